#include "event_channel.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace breakwatch::engine {

EventChannel::EventChannel(std::unique_ptr<EventExporter> exporter, bool required, const DeliveryOptions& options)
    : exporter_(std::move(exporter)),
      required_(required),
      options_(options),
      backoff_(options.first_backoff, options.max_backoff) {
  stats_.exporter = exporter_->Name();
}

SteadyTime EventChannel::Step(store::EventLog& log, const Clock& clock) {
  auto prepared = Prepare(log);
  if (prepared && !batch_.empty() && clock.Steady() >= backoff_.Due()) prepared = Send(log, clock);
  if (!prepared) StoreFailed(prepared.error(), clock.Steady());
  UpdateStats(clock);
  return Pending() ? std::max(backoff_.Due(), clock.Steady()) : SteadyTime::max();
}

void EventChannel::StoreFailed(const Error& error, SteadyTime now) {
  if (backoff_.FailuresInARow() == 0) Report(Level::kWarn, "cannot read the store: " + error.message);
  backoff_.Failed(now, std::nullopt);
}

// Does everything that only needs the store: reads the cursor, the number of waiting events and the next batch.
Result<void> EventChannel::Prepare(store::EventLog& log) {
  if (auto read = ReadState(log); !read) return read;
  if (auto saved = SaveCursor(log); !saved) return saved;
  auto newest = log.NewestEventId();
  if (!newest) return newest.error();
  newest_ = std::max(*newest, cursor_);
  return batch_.empty() ? TakeBatch(log) : Result<void>();
}

Result<void> EventChannel::ReadState(store::EventLog& log) {
  if (!known_) {
    auto cursor = log.Cursor(stats_.exporter);
    if (!cursor) return cursor.error();
    auto states = log.DeliveryStates();
    if (!states) return states.error();
    for (const store::DeliveryState& state : *states) {
      if (state.exporter == stats_.exporter) stats_.paused = !state.paused.empty();
    }
    cursor_ = saved_cursor_ = *cursor;
    known_ = true;
  }
  // Another process may have queued or dropped some.
  auto dead = log.CountDeadLetters(stats_.exporter);
  if (!dead) return dead.error();
  auto queued = log.CountQueuedLetters(stats_.exporter);
  if (!queued) return queued.error();
  stats_.dead_letters = *dead;
  queued_ = *queued;
  return {};
}

Result<void> EventChannel::TakeBatch(store::EventLog& log) {
  DropBatch();
  if (queued_ > 0) {
    auto letters = log.QueuedLetters(stats_.exporter, options_.batch_events, options_.batch_bytes);
    if (!letters) return letters.error();
    batch_ = *std::move(letters);
  }
  of_letters_ = !batch_.empty();
  // They were dropped or cannot be read, so events do not wait for them.
  if (!of_letters_) queued_ = 0;
  if (!of_letters_ && cursor_ < newest_) {
    auto events = log.EventsAfter(cursor_, options_.batch_events, options_.batch_bytes);
    if (!events) return events.error();
    batch_ = *std::move(events);
    if (batch_.empty()) cursor_ = newest_;  // events in between are no longer in the log
  }
  try_ = batch_.size();
  return {};
}

void EventChannel::DropBatch() {
  batch_.clear();
  held_.clear();
  try_ = suspect_ = 0;
  proven_ = false;
}

Result<void> EventChannel::Send(store::EventLog& log, const Clock& clock) {
  ++stats_.attempts;
  const Outcome outcome = exporter_->Export(std::span(batch_).first(try_));
  switch (outcome.delivery) {
    case Delivery::kDelivered:
      return Delivered(log, clock);
    case Delivery::kTryAgain:
      ++stats_.failures;
      stats_.last_failure = clock.Now();
      if (backoff_.FailuresInARow() == 0) Report(Level::kWarn, "failed, will retry: " + outcome.detail);
      backoff_.Failed(clock.Steady(), outcome.after);
      return {};
    case Delivery::kRefused:
      ++stats_.failures;
      return RefusedBy(log, clock, outcome);
  }
  return {};
}

Result<void> EventChannel::Delivered(store::EventLog& log, const Clock& clock) {
  if (backoff_.FailuresInARow() > 0) Report(Level::kInfo, "works again");
  backoff_.Worked();
  stats_.last_success = clock.Now();
  const bool was_paused = stats_.paused && !of_letters_;
  if (auto resumed = Resume(log); !resumed) return resumed;
  if (was_paused && !held_.empty()) {
    // The held events may have been refused like all others. The target gets them again, followed by this one.
    DropBatch();
    return {};
  }
  // The held events come first: moving the cursor past an event that is not a dead letter would lose it.
  if (auto buried = BuryHeld(log); !buried) return buried;
  if (auto noted = NoteDelivered(log); !noted) return noted;
  batch_.erase(batch_.begin(), batch_.begin() + static_cast<std::ptrdiff_t>(try_));
  suspect_ -= std::min(suspect_, try_);
  proven_ = true;
  const std::size_t growing = std::min(2 * try_, batch_.size());
  if (suspect_ == 0 && !of_letters_) batch_.clear();  // no event is suspected any more: send a whole batch next
  try_ = suspect_ == 0 && of_letters_ ? growing : std::max<std::size_t>(1, suspect_ / 2);
  return SaveCursor(log);
}

// If the store fails here, the batch is sent again.
Result<void> EventChannel::NoteDelivered(store::EventLog& log) {
  if (!of_letters_) {
    cursor_ = batch_[try_ - 1].id;
    return {};
  }
  store::LetterFilter sent{stats_.exporter, {}};
  for (std::size_t i = 0; i < try_; ++i) sent.ids.push_back(batch_[i].id);
  if (auto dropped = log.DropDeadLetters(sent); !dropped) return dropped.error();
  queued_ -= std::min(queued_, static_cast<std::int64_t>(try_));
  return {};
}

Result<void> EventChannel::RefusedBy(store::EventLog& log, const Clock& clock, const Outcome& outcome) {
  if (try_ > 1 && !stats_.paused) {
    suspect_ = try_;
    try_ = try_ / 2;
    return {};
  }
  if (try_ > 1) {  // everything seems to be refused: do not bisect, send single events
    try_ = 1;
    return {};
  }
  const Held culprit{batch_.front(), outcome.detail};
  if (of_letters_) {  // many of them may be refused again: send the next one alone
    if (auto buried = Bury(log, culprit); !buried) return buried;
    batch_.erase(batch_.begin());
    suspect_ = 0;
    return {};
  }
  // Moving the cursor past held events would lose them. If some are held, the answer about this event must wait too.
  if (proven_ || (outcome.names_events && held_.empty())) {
    if (auto buried = Bury(log, culprit); !buried) return buried;
    DropBatch();
    return {};
  }
  held_.push_back(culprit);
  batch_.erase(batch_.begin());
  suspect_ = 0;
  if (batch_.empty() || held_.size() >= kTriedAlone) return Pause(log, clock, outcome.detail);
  return {};
}

Result<void> EventChannel::Pause(store::EventLog& log, const Clock& clock, const std::string& detail) {
  if (!stats_.paused) {
    Report(Level::kWarn, "paused: the target refuses every event (" + std::to_string(held_.size()) +
                             " were sent one by one); nothing is lost, will retry: " + detail);
  }
  stats_.paused = true;
  stats_.last_failure = clock.Now();
  backoff_.Failed(clock.Steady(), std::nullopt);
  DropBatch();
  return log.SetPaused(stats_.exporter, detail);
}

Result<void> EventChannel::Resume(store::EventLog& log) {
  if (!stats_.paused || of_letters_) return {};
  if (auto resumed = log.SetPaused(stats_.exporter, ""); !resumed) return resumed;
  stats_.paused = false;
  return {};
}

Result<void> EventChannel::BuryHeld(store::EventLog& log) {
  while (!held_.empty()) {
    if (auto buried = Bury(log, held_.front()); !buried) return buried;
    held_.erase(held_.begin());
  }
  return {};
}

// If the store fails here, the event is sent and refused again before it becomes a dead letter.
Result<void> EventChannel::Bury(store::EventLog& log, const Held& culprit) {
  auto buried = of_letters_ ? log.RefuseQueuedLetter(stats_.exporter, culprit.event.id, culprit.detail)
                            : log.BuryEvent(stats_.exporter, culprit.event, culprit.detail);
  if (!buried) return buried;
  const std::string id = std::to_string(culprit.event.id);
  Report(NameOf(culprit.event) == kDeliveryFailed ? Level::kInfo : Level::kWarn,
         "refused event " + id + ", now a dead letter (breakwatch dead-letters show " + id + "): " + culprit.detail);
  ++stats_.dead_letters;
  refused_ = true;
  of_letters_ ? queued_ -= std::min<std::int64_t>(queued_, 1) : cursor_ = saved_cursor_ = culprit.event.id;
  return {};
}

// If the cursor cannot be written, the copy in memory counts. So delivered events are not sent again.
Result<void> EventChannel::SaveCursor(store::EventLog& log) {
  if (cursor_ == saved_cursor_) return {};
  if (auto saved = log.SetCursor(stats_.exporter, cursor_); !saved) return saved;
  saved_cursor_ = cursor_;
  return {};
}

void EventChannel::UpdateStats(const Clock& clock) {
  stats_.events_pending = std::max<std::int64_t>(0, newest_ - cursor_) + queued_;
  stats_.oldest_age = std::chrono::milliseconds(0);
  if (stats_.events_pending == 0) stats_.oldest_at = SystemTime{};
  // Without a batch, after a pause or a delivery, the time of the last one is the best known until the next step.
  const StoredEvent* oldest = !held_.empty() ? &held_.front().event : !batch_.empty() ? &batch_.front() : nullptr;
  if (oldest != nullptr) stats_.oldest_at = SystemTime{std::chrono::nanoseconds(oldest->ts_ns)};
  if (stats_.oldest_at == SystemTime{}) return;
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(clock.Now() - stats_.oldest_at);
  stats_.oldest_age = std::max(std::chrono::milliseconds(0), age);
}

void EventChannel::Report(Level level, const std::string& text) const {
  if (options_.report) options_.report(level, stats_.exporter, text);
}

}  // namespace breakwatch::engine
