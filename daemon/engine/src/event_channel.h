// EventChannel: one event exporter, its cursor, and its current batch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backoff.h"
#include "breakwatch/engine/delivery.h"

namespace breakwatch::engine {

// A refused batch is bisected. The first half of the part with a bad event is sent. If it is refused, the bad event is
// in it; otherwise it is in the other half. One bad event among n is alone after at most log2(n) + 1 sends. It becomes
// a dead letter only after it was refused alone. Later events are sent as a whole batch again.
//
// Until the target accepts part of a batch, it may refuse everything. Events refused alone are then held back, and the
// next ones are tried alone. If one is accepted, the held ones become dead letters. If none is accepted, the channel
// pauses: all events stay, and the batch is retried with growing pauses. An answer about single events
// (Outcome::names_events) makes a dead letter at once.
//
// Queued dead letters are sent first, in the order of their events. They never pause the channel: one that is refused
// alone becomes a dead letter again. Most of them may be refused as before, so no whole batch follows a refused one.
// The next one is sent alone, and the number doubles after each accepted send. n letters that are all refused take n +
// log2(n) + 1 sends.
class EventChannel {
 public:
  // The number of consecutive events that are tried alone before the channel pauses.
  static constexpr std::size_t kTriedAlone = 64;

  EventChannel(std::unique_ptr<EventExporter> exporter, bool required, const DeliveryOptions& options);

  // Sends at most one batch. Returns when to call Step again.
  SteadyTime Step(store::EventLog& log, const Clock& clock);
  void StoreFailed(const Error& error, SteadyTime now);  // also if no store could be opened
  void Hurry() { backoff_.Hurry(); }
  SteadyTime Due() const { return backoff_.Due(); }

  bool required() const { return required_; }
  bool Pending() const { return !known_ || cursor_ < newest_ || cursor_ != saved_cursor_ || queued_ > 0; }
  bool Refused() const { return refused_; }
  const DeliveryStats& stats() const { return stats_; }

 private:
  struct Held {
    StoredEvent event;
    std::string detail;
  };

  Result<void> Prepare(store::EventLog& log);
  Result<void> ReadState(store::EventLog& log);
  Result<void> TakeBatch(store::EventLog& log);
  Result<void> Send(store::EventLog& log, const Clock& clock);
  Result<void> Delivered(store::EventLog& log, const Clock& clock);
  Result<void> NoteDelivered(store::EventLog& log);
  Result<void> RefusedBy(store::EventLog& log, const Clock& clock, const Outcome& outcome);
  Result<void> Pause(store::EventLog& log, const Clock& clock, const std::string& detail);
  Result<void> Resume(store::EventLog& log);
  Result<void> BuryHeld(store::EventLog& log);
  Result<void> Bury(store::EventLog& log, const Held& culprit);
  Result<void> SaveCursor(store::EventLog& log);
  void DropBatch();
  void UpdateStats(const Clock& clock);
  void Report(Level level, const std::string& text) const;

  std::unique_ptr<EventExporter> exporter_;
  const bool required_;
  const DeliveryOptions& options_;
  bool known_ = false;  // the cursor was read
  std::int64_t cursor_ = 0, saved_cursor_ = 0, newest_ = 0;
  std::int64_t queued_ = 0;         // dead letters queued to be sent again
  std::vector<StoredEvent> batch_;  // after the cursor and those held, in order
  bool of_letters_ = false;         // the batch consists of queued dead letters
  std::size_t try_ = 0;             // how many events of the batch the next send takes
  std::size_t suspect_ = 0;         // size of the prefix that contains a bad event; 0: unknown
  bool proven_ = false;             // the target accepted part of this batch: refusals are about events
  std::vector<Held> held_;          // refused alone, while nothing was accepted
  bool refused_ = false;            // an event was refused since the start
  Backoff backoff_;
  DeliveryStats stats_;
};

}  // namespace breakwatch::engine
