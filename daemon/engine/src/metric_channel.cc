#include "metric_channel.h"

#include <algorithm>
#include <utility>

namespace breakwatch::engine {

MetricChannel::MetricChannel(std::unique_ptr<MetricExporter> exporter, bool required, const DeliveryOptions& options)
    : exporter_(std::move(exporter)),
      required_(required),
      options_(options),
      backoff_(options.first_backoff, options.max_backoff) {
  stats_.exporter = exporter_->Name();
}

void MetricChannel::Offer(SnapshotPtr snapshot, bool urgent) {
  latest_ = pending_ = std::move(snapshot);
  refused_ = false;
  if (urgent) urgent_ = true, backoff_.Hurry();
}

void MetricChannel::Hurry() {
  if (pending_ != nullptr) urgent_ = true;
  backoff_.Hurry();
}

SteadyTime MetricChannel::Due() const {
  const bool hold = sent_at_ && !urgent_;
  return hold ? std::max(backoff_.Due(), *sent_at_ + options_.metric_interval) : backoff_.Due();
}

SteadyTime MetricChannel::RepeatDue() const {
  const auto every = exporter_->RepeatEvery();
  return every && sent_at_ ? *sent_at_ + *every : SteadyTime::max();
}

SteadyTime MetricChannel::Step(const Clock& clock, const StatsOfAll& stats) {
  if (latest_ == nullptr) return SteadyTime::max();
  const SteadyTime now = clock.Steady();
  if (pending_ == nullptr && now >= next_check_) AskTarget(now);
  if (pending_ == nullptr && now >= RepeatDue()) pending_ = latest_, urgent_ = true;
  if (pending_ != nullptr && now >= Due()) Send(clock, stats);
  return pending_ != nullptr ? Due() : std::min(next_check_, RepeatDue());
}

// A target that lost its state shows nothing, so it gets the latest snapshot at once.
void MetricChannel::AskTarget(SteadyTime now) {
  next_check_ = now + options_.check_target;
  const TargetCheck check = exporter_->CheckTarget();
  if (!check.notice.empty()) Report(Level::kWarn, check.notice);
  if (refused_ || !check.lost_state) return;
  pending_ = latest_;
  urgent_ = true;
  Report(Level::kInfo, "the target lost the metrics; sending them again");
}

void MetricChannel::Send(const Clock& clock, const StatsOfAll& stats) {
  Snapshot snapshot = *pending_;
  if (options_.stats_in_snapshots) snapshot.delivery = stats();
  ++stats_.attempts;
  const Outcome outcome = exporter_->Export(snapshot);
  const SteadyTime now = clock.Steady();  // the send took time
  if (!outcome.notice.empty()) Report(Level::kWarn, outcome.notice);
  switch (outcome.delivery) {
    case Delivery::kDelivered:
      if (backoff_.FailuresInARow() > 0 || refusal_reported_) Report(Level::kInfo, "works again");
      backoff_.Worked();
      refused_ = false;
      refusal_reported_.reset();
      reported_ = {};
      pending_.reset();
      urgent_ = false;
      sent_at_ = now;
      next_check_ = now + options_.check_target;
      stats_.last_success = clock.Now();
      break;
    case Delivery::kTryAgain:
      ++stats_.failures;
      stats_.last_failure = clock.Now();
      if (reported_.IsNews(outcome)) Report(Level::kWarn, "failed, will retry: " + outcome.detail);
      backoff_.Failed(now, outcome.after);
      break;
    case Delivery::kRefused:  // the same bytes would be refused again; the next snapshot differs
      ++stats_.failures;
      stats_.last_failure = clock.Now();
      ReportRefusal(now, outcome.detail);
      refused_ = true;
      pending_.reset();
      urgent_ = false;
      sent_at_ = now;
      next_check_ = now + options_.check_target;
      break;
  }
}

// Not at every repetition, whose text may differ each time.
void MetricChannel::ReportRefusal(SteadyTime now, const std::string& detail) {
  if (refusal_reported_ && now - *refusal_reported_ < std::chrono::hours(1)) return;
  refusal_reported_ = now;
  Report(Level::kWarn, "refused the snapshot: " + detail);
}

void MetricChannel::Report(Level level, const std::string& text) const {
  if (options_.report) options_.report(level, stats_.exporter, text);
}

}  // namespace breakwatch::engine
