// MetricExporter and EventExporter: the seams to where results go.
//
// Retry, timing, order and dead letters wrap an exporter from outside (engine/delivery.h); an
// exporter only sends once and says what came of it.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "breakwatch/core/event.h"
#include "breakwatch/core/snapshot.h"

namespace breakwatch {

enum class Delivery {
  kDelivered,  // accepted
  kTryAgain,   // not now: send the same bytes again, not before `after`
  kRefused,    // never: the same bytes would be refused again
};

struct Outcome {
  Delivery delivery = Delivery::kDelivered;
  std::string detail;  // one line for the operator; empty when delivered
  std::optional<std::chrono::milliseconds> after{};
  bool names_events = false;  // of a kRefused: the answer is about events of the batch, not about all that is sent
};

// Owner: the delivery thread. Thread: that one; never called concurrently on one instance.
class MetricExporter {
 public:
  virtual ~MetricExporter() = default;
  virtual std::string Name() const = 0;
  // Replaces everything published before by this snapshot. Bounded in time by its own settings.
  virtual Outcome Export(const Snapshot& snapshot) = 0;
  // True when the target lost what was published (a restarted Pushgateway): the latest snapshot is sent again.
  virtual bool TargetLostState() { return false; }
};

// Owner and thread as above.
class EventExporter {
 public:
  virtual ~EventExporter() = default;
  virtual std::string Name() const = 0;
  // Sends all of `batch` (never empty, in order) or none that matters: the caller resends the same
  // bytes after kTryAgain, and bisects after kRefused.
  virtual Outcome Export(std::span<const StoredEvent> batch) = 0;
};

}  // namespace breakwatch
