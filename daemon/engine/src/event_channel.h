// EventChannel: one event exporter, its cursor, and its current batch.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backoff.h"
#include "breakwatch/engine/delivery.h"
#include "reported_failures.h"

namespace breakwatch::engine {

// A target that names the refused events of a batch stored all others: the named ones become dead letters, and nothing
// is sent again.
//
// A batch that is refused without names is bisected. The first half of the part with a bad event is sent. If it is
// refused, the bad event is in it; otherwise it is in the other half. One bad event among n is alone after at most
// log2(n) + 1 sends. It becomes a dead letter only after it was refused alone. The next event is sent alone, because
// bad events often follow each other, and the number doubles after each accepted send: n bad events in a row take n +
// log2(n) + 1 sends.
//
// Until the target accepts part of a batch, it may refuse everything. Events refused alone are then held back, and the
// next ones are tried alone. If one is accepted, the held ones become dead letters. If none is accepted, the channel
// pauses: all events stay, and the batch is retried with growing pauses. An answer about single events
// (Outcome::names_events) makes a dead letter at once.
//
// After an answer with Outcome::smaller half as many events are sent. The number doubles again after kSlowGrowth
// accepted sends, because a limit of the target would refuse the larger number again.
//
// Queued dead letters are sent first, in the order of their events. They never pause the channel: one that is refused
// alone becomes a dead letter again.
class EventChannel {
 public:
  // The number of consecutive events that are tried alone before the channel pauses.
  static constexpr std::size_t kTriedAlone = 64;
  static constexpr int kSlowGrowth = 8;

  EventChannel(std::unique_ptr<EventExporter> exporter, EventDelivery how, const DeliveryOptions& options);

  // Sends at most one batch. Returns when to call Step again.
  SteadyTime Step(store::EventLog& log, const Clock& clock);
  void StoreFailed(const Error& error, SteadyTime now);  // also if no store could be opened
  void Hurry() { backoff_.Hurry(), hurried_ = true; }
  SteadyTime Due() const { return std::max(backoff_.Due(), linger_until_); }
  // Before the first step: an exporter that the store does not know yet gets only events from `time` on.
  void StartAt(SystemTime time) { start_at_ = time; }

  bool required() const { return how_.required; }
  bool Pending() const { return !known_ || cursor_ < newest_ || cursor_ != saved_cursor_ || queued_ > 0; }
  bool Refused() const { return refused_; }
  bool Fails() const { return backoff_.FailuresInARow() > 0; }
  const DeliveryStats& stats() const { return stats_; }

 private:
  Result<void> Prepare(store::EventLog& log, SteadyTime now);
  bool Lingers(SteadyTime now);
  Result<void> Start(store::EventLog& log);
  Result<void> ReadState(store::EventLog& log);
  Result<void> TakeBatch(store::EventLog& log);
  Result<void> Send(store::EventLog& log, const Clock& clock);
  Result<void> Delivered(store::EventLog& log, const Clock& clock, const Outcome& outcome);
  Result<void> Accepted(store::EventLog& log, const Clock& clock);
  Result<void> NoteSent(store::EventLog& log, const std::vector<store::Refusal>& refused);
  Result<void> NoteLettersSent(store::EventLog& log, const std::vector<store::Refusal>& refused);
  Result<void> RefusedBy(store::EventLog& log, const Clock& clock, const Outcome& outcome);
  Result<void> Pause(store::EventLog& log, const Clock& clock, const std::string& detail);
  Result<void> Resume(store::EventLog& log);
  Result<void> Hold(store::EventLog& log, const Clock& clock, std::vector<store::Refusal> refused);
  Result<void> Bury(store::EventLog& log, const std::vector<store::Refusal>& refused, std::int64_t cursor);
  Result<void> BuryFirst(store::EventLog& log, const std::string& detail);
  Result<void> SaveCursor(store::EventLog& log);
  void DropBatch();
  void Drop(std::size_t sent);
  void Grow();
  std::size_t NextTry() const;
  std::size_t BatchBytes() const;
  void ReportRefused(const std::vector<store::Refusal>& refused);
  void NoteError(store::EventLog& log, const std::string& detail);
  void UpdateStats(const Clock& clock);
  void Report(Level level, const std::string& text) const;

  std::unique_ptr<EventExporter> exporter_;
  const EventDelivery how_;
  const DeliveryOptions& options_;
  bool known_ = false;  // the cursor was read
  std::int64_t cursor_ = 0, saved_cursor_ = 0, newest_ = 0;
  std::int64_t queued_ = 0;           // dead letters queued to be sent again
  std::vector<StoredEvent> batch_;    // after the cursor and those held, in order
  bool of_letters_ = false;           // the batch consists of queued dead letters
  std::size_t try_ = 0;               // how many events of the batch the next send takes
  std::size_t most_;                  // how many events a send takes at most
  int until_growth_ = 0;              // accepted sends before `most_` doubles
  std::size_t suspect_ = 0;           // size of the prefix that contains a bad event; 0: unknown
  bool proven_ = false;               // the target accepted part of this batch: refusals are about events
  std::vector<store::Refusal> held_;  // refused alone, while nothing was accepted
  bool refused_ = false;              // an event was refused since the start
  std::optional<SystemTime> start_at_;
  bool waits_ = false, hurried_ = false;  // some events wait; nothing is to wait for others
  SteadyTime linger_until_{};
  std::string noted_error_;  // the last one that was stored
  Backoff backoff_;
  ReportedFailures reported_;
  DeliveryStats stats_;
};

}  // namespace breakwatch::engine
