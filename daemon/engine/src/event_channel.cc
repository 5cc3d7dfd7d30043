#include "event_channel.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <span>
#include <utility>

namespace breakwatch::engine {

EventChannel::EventChannel(std::unique_ptr<EventExporter> exporter, EventDelivery how, const DeliveryOptions& options)
    : exporter_(std::move(exporter)),
      how_(how),
      options_(options),
      most_(static_cast<std::size_t>(std::max(options.batch_events, 1))),
      backoff_(options.first_backoff, options.max_backoff) {
  stats_.exporter = exporter_->Name();
}

SteadyTime EventChannel::Step(store::EventLog& log, const Clock& clock) {
  auto prepared = Prepare(log, clock.Steady());
  if (prepared && !batch_.empty() && clock.Steady() >= Due()) prepared = Send(log, clock);
  if (!prepared) StoreFailed(prepared.error(), clock.Steady());
  UpdateStats(clock);
  return Pending() ? std::max(Due(), clock.Steady()) : SteadyTime::max();
}

void EventChannel::StoreFailed(const Error& error, SteadyTime now) {
  if (backoff_.FailuresInARow() == 0) Report(Level::kWarn, "cannot read the store: " + error.message);
  backoff_.Failed(now, std::nullopt);
}

// Does everything that only needs the store: reads the cursor, the number of waiting events and the next batch.
Result<void> EventChannel::Prepare(store::EventLog& log, SteadyTime now) {
  if (auto read = ReadState(log); !read) return read;
  if (auto saved = SaveCursor(log); !saved) return saved;
  auto newest = log.NewestEventId();
  if (!newest) return newest.error();
  newest_ = std::max(*newest, cursor_);
  return Lingers(now) || !batch_.empty() ? Result<void>() : TakeBatch(log);
}

// The first events after a rest wait for others, so that a sweep's events do not make a push each.
bool EventChannel::Lingers(SteadyTime now) {
  const bool any = cursor_ < newest_ || queued_ > 0;
  if (!any) hurried_ = false;
  if (any && !waits_) linger_until_ = now + options_.linger;
  waits_ = any;
  if (hurried_ || !any || !how_.remote) linger_until_ = SteadyTime{};
  return now < linger_until_;
}

// The cursor is stored at once: a later start must not skip events that could not be sent until then.
Result<void> EventChannel::Start(store::EventLog& log) {
  auto before = log.NewestEventBefore(*start_at_);
  if (!before) return before.error();
  if (auto saved = log.SetCursor(stats_.exporter, *before); !saved) return saved;
  cursor_ = *before;
  if (cursor_ > 0) {
    Report(Level::kInfo,
           "starts after event " + std::to_string(cursor_) + "; earlier events are not sent (setting start: now)");
  }
  return {};
}

Result<void> EventChannel::ReadState(store::EventLog& log) {
  if (!known_) {
    auto cursor = log.Cursor(stats_.exporter);
    if (!cursor) return cursor.error();
    auto states = log.DeliveryStates();
    if (!states) return states.error();
    const auto state = std::ranges::find(*states, stats_.exporter, &store::DeliveryState::exporter);
    cursor_ = *cursor;
    if (state != states->end()) {
      stats_.paused = !state->paused.empty();
    } else if (start_at_) {
      if (auto started = Start(log); !started) return started;
    }
    saved_cursor_ = cursor_;
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

// A file is synced once for each batch.
std::size_t EventChannel::BatchBytes() const {
  constexpr std::size_t kLocal = 1u << 20;
  return how_.remote ? options_.batch_bytes : std::max(options_.batch_bytes, kLocal);
}

Result<void> EventChannel::TakeBatch(store::EventLog& log) {
  DropBatch();
  if (queued_ > 0) {
    auto letters = log.QueuedLetters(stats_.exporter, options_.batch_events, BatchBytes());
    if (!letters) return letters.error();
    batch_ = *std::move(letters);
  }
  of_letters_ = !batch_.empty();
  // They were dropped or cannot be read, so events do not wait for them.
  if (!of_letters_) queued_ = 0;
  if (!of_letters_ && cursor_ < newest_) {
    auto events = log.EventsAfter(cursor_, options_.batch_events, BatchBytes());
    if (!events) return events.error();
    batch_ = *std::move(events);
    if (batch_.empty()) cursor_ = newest_;  // events in between are no longer in the log
  }
  try_ = NextTry();
  return {};
}

void EventChannel::DropBatch() {
  batch_.clear();
  held_.clear();
  try_ = suspect_ = 0;
  proven_ = false;
}

void EventChannel::Drop(std::size_t sent) {
  batch_.erase(batch_.begin(), batch_.begin() + static_cast<std::ptrdiff_t>(sent));
  suspect_ -= std::min(suspect_, sent);
}

void EventChannel::Grow() {
  if (until_growth_ > 0) {
    --until_growth_;
    return;
  }
  const auto limit = static_cast<std::size_t>(std::max(options_.batch_events, 1));
  most_ = std::min(std::max(most_, 2 * try_), limit);
}

std::size_t EventChannel::NextTry() const {
  return suspect_ > 0 ? std::max<std::size_t>(1, suspect_ / 2) : std::min(most_, batch_.size());
}

Result<void> EventChannel::Send(store::EventLog& log, const Clock& clock) {
  ++stats_.attempts;
  const Outcome outcome = exporter_->Export(std::span(batch_).first(try_));
  if (!outcome.notice.empty()) Report(Level::kWarn, outcome.notice);
  switch (outcome.delivery) {
    case Delivery::kDelivered:
      return Delivered(log, clock, outcome);
    case Delivery::kTryAgain:
      ++stats_.failures;
      stats_.last_failure = clock.Now();
      if (reported_.IsNews(outcome)) Report(Level::kWarn, "failed, will retry: " + outcome.detail);
      backoff_.Failed(clock.Steady(), outcome.after);
      NoteError(log, outcome.detail);
      if (outcome.smaller) {
        most_ = try_ = std::max<std::size_t>(1, try_ / 2);
        until_growth_ = kSlowGrowth;
      }
      return {};
    case Delivery::kRefused:
      ++stats_.failures;
      return RefusedBy(log, clock, outcome);
  }
  return {};
}

Result<void> EventChannel::Delivered(store::EventLog& log, const Clock& clock, const Outcome& outcome) {
  std::vector<store::Refusal> refused;
  for (const auto& [place, detail] : outcome.refused) refused.push_back({batch_.at(place), detail});
  const bool stored_some = refused.size() < try_;
  if (!stored_some && !held_.empty()) return Hold(log, clock, std::move(refused));
  if (stored_some) {
    const bool was_paused = stats_.paused && !of_letters_;
    if (auto accepted = Accepted(log, clock); !accepted) return accepted;
    if (was_paused && !held_.empty()) {
      // The held events may have been refused like all others. The target gets them again, followed by this one.
      DropBatch();
      return {};
    }
  }
  // The held events come first: moving the cursor past an event that is not a dead letter would lose it.
  refused.insert(refused.begin(), held_.begin(), held_.end());
  if (auto noted = of_letters_ ? NoteLettersSent(log, refused) : NoteSent(log, refused); !noted) return noted;
  held_.clear();
  Drop(try_);
  proven_ = proven_ || stored_some;
  Grow();
  try_ = NextTry();
  return SaveCursor(log);
}

Result<void> EventChannel::Accepted(store::EventLog& log, const Clock& clock) {
  if (backoff_.FailuresInARow() > 0) Report(Level::kInfo, "works again");
  backoff_.Worked();
  reported_ = {};
  stats_.last_success = clock.Now();
  return Resume(log);
}

// If the store fails here, the batch is sent again.
Result<void> EventChannel::NoteSent(store::EventLog& log, const std::vector<store::Refusal>& refused) {
  const std::int64_t last = batch_[try_ - 1].id;
  if (!refused.empty()) return Bury(log, refused, last);
  cursor_ = last;
  return {};
}

Result<void> EventChannel::NoteLettersSent(store::EventLog& log, const std::vector<store::Refusal>& refused) {
  if (!refused.empty()) {
    if (auto buried = Bury(log, refused, 0); !buried) return buried;
  }
  store::LetterFilter sent{stats_.exporter, {}};
  for (std::size_t i = 0; i < try_; ++i) sent.ids.push_back(batch_[i].id);
  for (const auto& [event, reason] : refused) std::erase(sent.ids, event.id);
  if (sent.ids.empty()) return {};
  if (auto dropped = log.DropDeadLetters(sent); !dropped) return dropped.error();
  queued_ -= std::min(queued_, static_cast<std::int64_t>(sent.ids.size()));
  return {};
}

Result<void> EventChannel::RefusedBy(store::EventLog& log, const Clock& clock, const Outcome& outcome) {
  if (outcome.refuses_all && !of_letters_) return Pause(log, clock, outcome.detail);
  if (try_ > 1 && !stats_.paused) {
    suspect_ = try_;
    try_ = try_ / 2;
    return {};
  }
  if (try_ > 1) {  // everything seems to be refused: do not bisect, send single events
    try_ = 1;
    return {};
  }
  // Moving the cursor past held events would lose them. If some are held, the answer about this event must wait too.
  if (of_letters_ || proven_ || (outcome.names_events && held_.empty())) return BuryFirst(log, outcome.detail);
  return Hold(log, clock, {{batch_.front(), outcome.detail}});
}

Result<void> EventChannel::BuryFirst(store::EventLog& log, const std::string& detail) {
  std::vector<store::Refusal> culprit{{batch_.front(), detail}};
  // With the held events before it, as in Delivered.
  culprit.insert(culprit.begin(), held_.begin(), held_.end());
  if (auto buried = Bury(log, culprit, batch_.front().id); !buried) return buried;
  held_.clear();
  Drop(1);
  suspect_ = 0;
  most_ = try_ = 1;
  return {};
}

Result<void> EventChannel::Hold(store::EventLog& log, const Clock& clock, std::vector<store::Refusal> refused) {
  const std::string detail = refused.back().reason;
  Drop(refused.size());
  std::ranges::move(refused, std::back_inserter(held_));
  suspect_ = 0;
  try_ = std::min<std::size_t>(1, batch_.size());
  if (batch_.empty() || held_.size() >= kTriedAlone) return Pause(log, clock, detail);
  return {};
}

Result<void> EventChannel::Pause(store::EventLog& log, const Clock& clock, const std::string& detail) {
  if (!stats_.paused) {
    const std::string tried = held_.empty() ? "" : " (" + std::to_string(held_.size()) + " were sent one by one)";
    Report(Level::kWarn, "paused: the target refuses every event" + tried + "; nothing is lost, will retry: " + detail);
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

// If the store fails here, the events are sent and refused again before they become dead letters.
Result<void> EventChannel::Bury(store::EventLog& log, const std::vector<store::Refusal>& refused, std::int64_t cursor) {
  auto buried = of_letters_ ? log.RefuseQueuedLetters(stats_.exporter, refused)
                            : log.BuryEvents(stats_.exporter, refused, cursor);
  if (!buried) return buried;
  ReportRefused(refused);
  NoteError(log, refused.back().reason);
  const auto count = static_cast<std::int64_t>(refused.size());
  stats_.dead_letters += count;
  refused_ = true;
  of_letters_ ? queued_ -= std::min(queued_, count) : cursor_ = saved_cursor_ = cursor;
  return {};
}

// Only for people: the next one is as good if the store fails here.
void EventChannel::NoteError(store::EventLog& log, const std::string& detail) {
  if (detail == noted_error_) return;
  if (log.SetLastError(stats_.exporter, detail)) noted_error_ = detail;
}

// One report for a batch. Its record is an event too, so it must not be one about refused records alone.
void EventChannel::ReportRefused(const std::vector<store::Refusal>& refused) {
  const bool only_records =
      std::ranges::all_of(refused, [](const store::Refusal& one) { return NameOf(one.event) == kDeliveryFailed; });
  const std::string first = std::to_string(refused.front().event.id);
  const std::string what =
      refused.size() == 1
          ? "refused event " + first + ", now a dead letter (breakwatch dead-letters show " + first + "): "
          : "refused " + std::to_string(refused.size()) + " events, now dead letters (breakwatch dead-letters list " +
                "--exporter " + stats_.exporter + "), the first is " + first + ": ";
  Report(only_records ? Level::kInfo : Level::kWarn, what + refused.front().reason);
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
