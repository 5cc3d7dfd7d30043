// MetricExporter and EventExporter: the interfaces to the targets of results.
//
// Retry, timing, order and dead letters wrap an exporter from outside (engine/delivery.h); an
// exporter sends once and reports the outcome.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/core/event.h"
#include "breakwatch/core/snapshot.h"

namespace breakwatch {

enum class Delivery {
  kDelivered,  // accepted
  kTryAgain,   // not now: send the same bytes again, not before `after`
  kRefused,    // permanently: the same bytes would be refused again
};

struct RefusedEvent {
  std::size_t place = 0;  // in the batch
  std::string detail;     // one line for the operator
};

struct Outcome {
  Delivery delivery = Delivery::kDelivered;
  std::string detail;  // one line for the operator; empty when delivered
  std::optional<std::chrono::milliseconds> after{};
  bool names_events = false;  // of a kRefused: the answer concerns single events, not the whole batch
  bool refuses_all = false;   // of a kRefused: no event is accepted as long as the settings are as they are
  bool smaller = false;       // of a kTryAgain: fewer events at once may be accepted
  // Of a kDelivered: events that the target refused permanently, in order. It is done with all others of the batch.
  std::vector<RefusedEvent> refused{};
  std::string notice{};       // for the operator, of any outcome: something changed in how the exporter works
  bool needs_person = false;  // of a kTryAgain: fails until somebody changes a setting, a password or a certificate
};

struct TargetCheck {
  bool lost_state = false;  // the series are gone (a restarted Pushgateway): the latest snapshot is sent again
  std::string notice{};     // for the operator
};

// Owner and thread: its own thread of delivery; never called concurrently on one instance.
class MetricExporter {
 public:
  virtual ~MetricExporter() = default;
  virtual std::string Name() const = 0;
  // Replaces everything published before by this snapshot. Bounded in time by its own settings.
  virtual Outcome Export(const Snapshot& snapshot) = 0;
  // Called from time to time while there is nothing to send.
  virtual TargetCheck CheckTarget() { return {}; }
  // For targets that forget series which are not repeated: the latest snapshot is sent again this long after the last
  // send, also one that was refused. Nothing: it is sent once.
  virtual std::optional<std::chrono::milliseconds> RepeatEvery() const { return std::nullopt; }
};

// Owner and thread as above.
class EventExporter {
 public:
  virtual ~EventExporter() = default;
  virtual std::string Name() const = 0;
  // Sends all of `batch` (never empty, in order) or fails: the caller resends the same bytes after kTryAgain, and
  // bisects after kRefused. It never sends again what a kDelivered covers, refused events included.
  virtual Outcome Export(std::span<const StoredEvent> batch) = 0;
};

}  // namespace breakwatch
