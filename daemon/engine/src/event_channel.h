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
//
// While nothing of a batch was accepted, a refusal may be about all that is sent: those refused alone are held back,
// and the next ones are tried alone. Once one is accepted, those before it are culprits and are buried; where none is,
// the channel pauses: all of them stay, and the batch is tried again with growing pauses. An answer that is about
// single events (Outcome::names_events) makes a culprit at once.
//
// Dead letters that were queued go first, in the order of their events. They pause nothing: refused alone, each is dead
// again. Most of them may be refused as before, so no whole batch follows a culprit: the next one is sent alone, and
// twice as many after each send that is accepted. n letters that are all refused take n + log2(n) + 1 sends.
class EventChannel {
 public:
  // So many in a row are tried alone before the channel pauses.
  static constexpr std::size_t kTriedAlone = 64;

  EventChannel(std::unique_ptr<EventExporter> exporter, bool required, const DeliveryOptions& options);

  // Sends at most one batch; returns when to come back.
  SteadyTime Step(store::Store& store, const Clock& clock);
  void StoreFailed(const Error& error, SteadyTime now);  // also where no store could be opened
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

  Result<void> Prepare(store::Store& store);
  Result<void> ReadState(store::Store& store);
  Result<void> TakeBatch(store::Store& store);
  Result<void> Send(store::Store& store, const Clock& clock);
  Result<void> Delivered(store::Store& store, const Clock& clock);
  Result<void> NoteDelivered(store::Store& store);
  Result<void> RefusedBy(store::Store& store, const Clock& clock, const Outcome& outcome);
  Result<void> Pause(store::Store& store, const Clock& clock, const std::string& detail);
  Result<void> Resume(store::Store& store);
  Result<void> BuryHeld(store::Store& store);
  Result<void> Bury(store::Store& store, const Held& culprit);
  Result<void> SaveCursor(store::Store& store);
  void DropBatch();
  void UpdateStats(const Clock& clock);
  void Report(Level level, const std::string& text) const;

  std::unique_ptr<EventExporter> exporter_;
  const bool required_;
  const DeliveryOptions& options_;
  bool known_ = false;  // the cursor was read
  std::int64_t cursor_ = 0, saved_cursor_ = 0, newest_ = 0;
  std::int64_t queued_ = 0;         // dead letters that are to be sent again
  std::vector<StoredEvent> batch_;  // after the cursor and those held, in order
  bool of_letters_ = false;         // the batch is of queued dead letters
  std::size_t try_ = 0;             // how many of the batch the next send takes
  std::size_t suspect_ = 0;         // the first of the batch known to hold a culprit; 0: none known
  bool proven_ = false;             // the target accepted something of this batch: refusals are about events
  std::vector<Held> held_;          // refused alone, while nothing was accepted
  bool refused_ = false;            // an event, since the start
  Backoff backoff_;
  DeliveryStats stats_;
};

}  // namespace breakwatch::engine
