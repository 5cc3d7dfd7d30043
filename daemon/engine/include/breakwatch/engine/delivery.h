// Delivery: a thread for each exporter, so that none waits for another's target. Snapshots: latest wins, never queued.
// Events: in order, at least once, by a cursor per exporter, which only the exporter's thread writes; refused events
// become dead letters, the rest is sent. A target that refuses every event of a batch pauses its exporter. Queued dead
// letters are sent before new events.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/exporters.h"
#include "breakwatch/store/event_log.h"

namespace breakwatch::engine {

using OpenEventLog = std::function<Result<std::unique_ptr<store::EventLog>>()>;

struct DeliveryOptions {
  std::chrono::milliseconds first_backoff{500}, max_backoff{60'000};  // doubling, with jitter
  std::chrono::milliseconds optional_drain{5'000};    // a drain waits so long for exporters that are not required
  std::chrono::milliseconds check_target{15'000};     // interval of MetricExporter::CheckTarget
  std::chrono::milliseconds metric_interval{30'000};  // shortest time between two snapshots during a sweep
  bool stats_in_snapshots = true;  // false: the process shows the state of delivery in its own /metrics
  std::chrono::milliseconds linger{
      1'000};  // events for remote targets wait so long for others, unless something drains
  int batch_events = 1000;
  // Of lines, for remote targets: Loki ignores a resend only within a block of 256 KiB.
  std::size_t batch_bytes = 64u << 10;
  // For the operator: an exporter fails, a snapshot or an event was refused (kWarn), or it works again (kInfo). Called
  // on Step's thread: on several at once. A dead letter that is itself a delivery_failed event is kInfo: its record
  // would be refused too.
  std::function<void(Level level, std::string_view exporter, std::string_view text)> report;
};

// How an event exporter is served.
struct EventDelivery {
  bool required = true;
  bool from_beginning = true;  // what it gets if the store does not know it yet: all events, or those from now on
  bool remote = false;         // its events wait for others (linger) and are sent in small batches (batch_bytes)
};

// The logic without the thread: each step sends at most one thing per exporter and returns the next due time.
// Each exporter has its own due time: one that failed delays no other. Thread: its owner's only.
class DeliveryPump {
 public:
  DeliveryPump(store::EventLog& log, const Clock& clock, DeliveryOptions options);
  // Opens the log on first use, and retries with pauses while that fails: snapshots are sent without it.
  DeliveryPump(OpenEventLog open_log, const Clock& clock, DeliveryOptions options);
  ~DeliveryPump();

  void Add(std::unique_ptr<MetricExporter> exporter, bool required);
  void Add(std::unique_ptr<EventExporter> exporter, EventDelivery how);
  // What snapshots get as the state of delivery. Default: Stats().
  void ShowStatsOf(std::function<std::vector<DeliveryStats>()> all);
  void SetSnapshot(SnapshotPtr snapshot, bool urgent);  // urgent: a sweep ended, ignore metric_interval
  // Sends what is due. Returns the time of the next send; max if there is none.
  SteadyTime Step();
  // Makes everything that waits due at once, except where the peer asked for a pause.
  void Hurry();
  // Names of required exporters with something pending.
  std::vector<std::string> Pending() const;
  // Those, and required exporters that refused something since the start: they did not accept everything.
  std::vector<std::string> Behind() const;
  // Whether an exporter, required or not, has something pending and its last attempt did not fail.
  bool Proceeds() const;
  std::vector<DeliveryStats> Stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Owns a thread for each exporter, with a pump of its own, and stops and joins them in its destructor. The thread of an
// event exporter opens a store session.
class DeliveryThreads {
 public:
  struct Exporters {
    struct Metric {
      std::unique_ptr<MetricExporter> exporter;
      bool required = true;
    };
    struct Events {
      std::unique_ptr<EventExporter> exporter;
      EventDelivery how{};
    };
    std::vector<Metric> metrics;
    std::vector<Events> events;
  };

  DeliveryThreads(OpenEventLog open_log, Exporters exporters, const Clock& clock, DeliveryOptions options);
  ~DeliveryThreads();
  DeliveryThreads(const DeliveryThreads&) = delete;
  DeliveryThreads& operator=(const DeliveryThreads&) = delete;

  // Thread: any. Never blocks.
  void Publish(const SnapshotPtr& snapshot, bool urgent);
  void NotifyEvents();  // events were stored
  std::vector<DeliveryStats> Stats() const;
  // Waits until no required exporter has anything pending, at most `timeout` or until a stop request. Other exporters
  // get at most `optional_drain` of it, and none after a failure. Returns the names of required exporters that did not
  // accept everything.
  std::vector<std::string> Drain(std::chrono::milliseconds timeout, std::stop_token stop = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace breakwatch::engine
