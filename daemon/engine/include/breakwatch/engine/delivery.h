// Delivery: the one thread that sends. Snapshots: latest wins, never queued. Events: in order, at least once,
// by a cursor per exporter; a refused batch is bisected, the culprit becomes a dead letter, the rest goes on. A target
// that refuses every event of a batch pauses its exporter. Dead letters that are queued again go before new events.
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
#include "breakwatch/store/store.h"

namespace breakwatch::engine {

using OpenStore = std::function<Result<std::unique_ptr<store::Store>>()>;

struct DeliveryOptions {
  std::chrono::milliseconds first_backoff{500}, max_backoff{60'000};  // doubling, with jitter
  std::chrono::milliseconds check_target{15'000};     // how often MetricExporter::TargetLostState is asked
  std::chrono::milliseconds metric_interval{30'000};  // least time between two snapshots while a sweep runs
  int batch_events = 1000;
  std::size_t batch_bytes = 1u << 20;
  // For the operator: an exporter fails, a snapshot or an event was refused (kWarn), or it works again (kInfo). Called
  // where Step is. A dead letter that is itself a delivery_failed event is kInfo: a record of it would be refused too.
  std::function<void(Level level, std::string_view exporter, std::string_view text)> report;
};

// The logic without the thread: each step sends at most one thing per exporter, and says when to come back.
// Each exporter has its own due time: one that is away delays no other. Thread: its owner's only.
class DeliveryPump {
 public:
  DeliveryPump(store::Store& store, const Clock& clock, DeliveryOptions options);
  // Opens the store when it first needs it, and again with pauses while that fails: snapshots go out without it.
  DeliveryPump(OpenStore open_store, const Clock& clock, DeliveryOptions options);
  ~DeliveryPump();

  void Add(std::unique_ptr<MetricExporter> exporter, bool required);
  void Add(std::unique_ptr<EventExporter> exporter, bool required);
  void SetSnapshot(SnapshotPtr snapshot, bool urgent);  // urgent: a sweep ended, send without regard to metric_interval
  // Sends what is due. Returns when the next thing is due; max when nothing is.
  SteadyTime Step();
  // Everything that waits is due at once, but where the peer itself named a time.
  void Hurry();
  // Names of required exporters that something waits for.
  std::vector<std::string> Pending() const;
  // Those, and the required ones that refused something since the start: they did not accept everything.
  std::vector<std::string> Behind() const;
  std::vector<DeliveryStats> Stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Owns the thread and stops and joins it in its destructor. Opens its own store session on it.
class DeliveryThread {
 public:
  using OpenStore = engine::OpenStore;
  struct Exporters {
    struct Metric {
      std::unique_ptr<MetricExporter> exporter;
      bool required = true;
    };
    struct Events {
      std::unique_ptr<EventExporter> exporter;
      bool required = true;
    };
    std::vector<Metric> metrics;
    std::vector<Events> events;
  };

  DeliveryThread(OpenStore open_store, Exporters exporters, const Clock& clock, DeliveryOptions options);
  ~DeliveryThread();
  DeliveryThread(const DeliveryThread&) = delete;
  DeliveryThread& operator=(const DeliveryThread&) = delete;

  // Thread: any. Never blocks.
  void Publish(SnapshotPtr snapshot, bool urgent);
  void NotifyEvents();  // events were stored
  std::vector<DeliveryStats> Stats() const;
  // Waits until nothing waits for a required exporter, at most `timeout` and until a stop request. Returns the names of
  // required exporters that did not accept everything.
  std::vector<std::string> Drain(std::chrono::milliseconds timeout, std::stop_token stop = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace breakwatch::engine
