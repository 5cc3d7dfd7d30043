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

SteadyTime EventChannel::Step(store::Store& store, const Clock& clock) {
  auto prepared = Prepare(store);
  if (prepared && !batch_.empty() && clock.Steady() >= backoff_.Due()) prepared = Send(store, clock);
  if (!prepared) StoreFailed(prepared.error(), clock.Steady());
  UpdateStats(clock);
  return Pending() ? std::max(backoff_.Due(), clock.Steady()) : SteadyTime::max();
}

void EventChannel::StoreFailed(const Error& error, SteadyTime now) {
  if (backoff_.FailuresInARow() == 0) Report(Level::kWarn, "waits for the store: " + error.message);
  backoff_.Failed(now, std::nullopt);
}

// Everything that only needs the store: the cursor, how much waits, the next batch.
Result<void> EventChannel::Prepare(store::Store& store) {
  if (!known_) {
    auto cursor = store.Cursor(stats_.exporter);
    if (!cursor) return cursor.error();
    auto dead = store.CountDeadLetters(stats_.exporter);
    if (!dead) return dead.error();
    cursor_ = saved_cursor_ = *cursor;
    stats_.dead_letters = *dead;
    known_ = true;
  }
  if (auto saved = SaveCursor(store); !saved) return saved;
  auto newest = store.NewestEventId();
  if (!newest) return newest.error();
  newest_ = std::max(*newest, cursor_);
  if (!batch_.empty() || cursor_ >= newest_) return {};
  auto events = store.EventsAfter(cursor_, options_.batch_events, options_.batch_bytes);
  if (!events) return events.error();
  batch_ = *std::move(events);
  if (batch_.empty()) cursor_ = newest_;  // what was between is gone from the log: nothing to wait for
  try_ = batch_.size();
  suspect_ = 0;
  return {};
}

Result<void> EventChannel::Send(store::Store& store, const Clock& clock) {
  ++stats_.attempts;
  const Outcome outcome = exporter_->Export(std::span(batch_).first(try_));
  switch (outcome.delivery) {
    case Delivery::kDelivered:
      return Delivered(store, clock);
    case Delivery::kTryAgain:
      ++stats_.failures;
      if (backoff_.FailuresInARow() == 0) Report(Level::kWarn, "failed, will try again: " + outcome.detail);
      backoff_.Failed(clock.Steady(), outcome.after);
      return {};
    case Delivery::kRefused:
      ++stats_.failures;
      return RefusedBy(store, outcome);
  }
  return {};
}

Result<void> EventChannel::Delivered(store::Store& store, const Clock& clock) {
  if (backoff_.FailuresInARow() > 0) Report(Level::kInfo, "works again");
  backoff_.Worked();
  stats_.last_success = clock.Now();
  cursor_ = batch_[try_ - 1].id;
  batch_.erase(batch_.begin(), batch_.begin() + static_cast<std::ptrdiff_t>(try_));
  suspect_ -= std::min(suspect_, try_);
  if (suspect_ == 0) batch_.clear();  // nothing is suspected any more: a whole batch next
  try_ = std::max<std::size_t>(1, suspect_ / 2);
  return SaveCursor(store);
}

namespace {

bool IsDeliveryFailed(const StoredEvent& event) {
  return event.line.find("\"msg\":\"delivery_failed\"") != std::string::npos;
}

}  // namespace

Result<void> EventChannel::RefusedBy(store::Store& store, const Outcome& outcome) {
  if (try_ > 1) {
    suspect_ = try_;
    try_ = try_ / 2;
    return {};
  }
  const StoredEvent& culprit = batch_.front();
  // Should the store fail here, the event is sent, refused and buried once more.
  if (auto buried = store.BuryEvent(stats_.exporter, culprit, outcome.detail); !buried) return buried;
  Report(IsDeliveryFailed(culprit) ? Level::kInfo : Level::kWarn,
         "refused event " + std::to_string(culprit.id) + ", now a dead letter: " + outcome.detail);
  ++stats_.dead_letters;
  refused_ = true;
  cursor_ = saved_cursor_ = culprit.id;
  batch_.clear();
  suspect_ = 0;
  return {};
}

// What was delivered is not sent again because its cursor could not be written: memory knows better until then.
Result<void> EventChannel::SaveCursor(store::Store& store) {
  if (cursor_ == saved_cursor_) return {};
  if (auto saved = store.SetCursor(stats_.exporter, cursor_); !saved) return saved;
  saved_cursor_ = cursor_;
  return {};
}

void EventChannel::UpdateStats(const Clock& clock) {
  stats_.events_pending = std::max<std::int64_t>(0, newest_ - cursor_);
  stats_.oldest_age = std::chrono::milliseconds(0);
  if (batch_.empty()) return;
  const auto age = clock.Now() - SystemTime{std::chrono::nanoseconds(batch_.front().ts_ns)};
  stats_.oldest_age =
      std::max(std::chrono::milliseconds(0), std::chrono::duration_cast<std::chrono::milliseconds>(age));
}

void EventChannel::Report(Level level, const std::string& text) const {
  if (options_.report) options_.report(level, stats_.exporter, text);
}

}  // namespace breakwatch::engine
