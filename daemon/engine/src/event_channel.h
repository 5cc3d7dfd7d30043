// EventChannel: one event exporter, its cursor, and the batch in hand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backoff.h"
#include "breakwatch/engine/delivery.h"

namespace breakwatch::engine {

// A refused batch is halved: the first half of what is known to hold a culprit is sent; refused, the culprit is in
// it, delivered, in the other half. A culprit among n is alone after at most log2(n) + 1 sends, is buried only after it
// was refused alone, and what follows goes on as a whole batch.
class EventChannel {
 public:
  EventChannel(std::unique_ptr<EventExporter> exporter, bool required, const DeliveryOptions& options);

  // Sends at most one batch; returns when to come back.
  SteadyTime Step(store::Store& store, const Clock& clock);
  void StoreFailed(const Error& error, SteadyTime now);  // also where no store could be opened
  void Hurry() { backoff_.Hurry(); }
  SteadyTime Due() const { return backoff_.Due(); }

  bool required() const { return required_; }
  bool Pending() const { return !known_ || cursor_ < newest_ || cursor_ != saved_cursor_; }
  bool Refused() const { return refused_; }
  const DeliveryStats& stats() const { return stats_; }

 private:
  Result<void> Prepare(store::Store& store);
  Result<void> Send(store::Store& store, const Clock& clock);
  Result<void> Delivered(store::Store& store, const Clock& clock);
  Result<void> RefusedBy(store::Store& store, const Outcome& outcome);
  Result<void> SaveCursor(store::Store& store);
  void UpdateStats(const Clock& clock);
  void Report(Level level, const std::string& text) const;

  std::unique_ptr<EventExporter> exporter_;
  const bool required_;
  const DeliveryOptions& options_;
  bool known_ = false;  // the cursor was read
  std::int64_t cursor_ = 0, saved_cursor_ = 0, newest_ = 0;
  std::vector<StoredEvent> batch_;  // after the cursor, in order
  std::size_t try_ = 0;             // how many of the batch the next send takes
  std::size_t suspect_ = 0;         // the first of the batch known to hold a culprit; 0: none known
  bool refused_ = false;            // an event, since the start
  Backoff backoff_;
  DeliveryStats stats_;
};

}  // namespace breakwatch::engine
