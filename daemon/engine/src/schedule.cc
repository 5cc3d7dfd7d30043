#include "schedule.h"

#include <algorithm>

namespace breakwatch::engine {
namespace {

// The pause after a failed sweep doubles from the first value to the longest.
constexpr std::chrono::milliseconds kFirstRetry = std::chrono::seconds(60);
constexpr std::chrono::milliseconds kLongestRetry = std::chrono::minutes(15);

// An interval of zero or less means none.
Schedule::Interval Sane(Schedule::Interval interval) {
  return interval && *interval > std::chrono::seconds(0) ? interval : std::nullopt;
}

}  // namespace

void Schedule::Begin(Interval interval, SteadyTime now, std::optional<std::chrono::nanoseconds> since) {
  interval = interval_ = Sane(interval);
  next_tick_.reset();
  if (!interval) return;
  next_tick_ = now;
  const bool recent = since && *since >= std::chrono::nanoseconds::zero() && *since < *interval;
  if (recent) *next_tick_ += std::chrono::duration_cast<SteadyTime::duration>(*interval - *since);
}

void Schedule::Use(Interval interval, SteadyTime now) {
  interval = Sane(interval);
  if (interval == interval_) return;
  interval_ = interval;
  next_tick_ = interval ? std::optional(now + *interval) : std::nullopt;
}

void Schedule::PassTicks(SteadyTime now) {
  if (TickIsDue(now)) *next_tick_ += *interval_ * ((now - *next_tick_) / *interval_ + 1);
}

void Schedule::Failed(const Error& error, SteadyTime now) {
  const auto pause = std::min(kFirstRetry * (1 << std::min(failures_, 10)), kLongestRetry);
  retry_at_ = now + std::max(pause, error.after.value_or(std::chrono::milliseconds(0)));
  ++failures_;
}

void Schedule::Worked() {
  retry_at_.reset();
  failures_ = 0;
}

bool Schedule::TakeRetry(SteadyTime now) {
  if (!retry_at_ || now < *retry_at_) return false;
  retry_at_.reset();
  return true;
}

SteadyTime Schedule::Next() const {
  return std::min(next_tick_.value_or(SteadyTime::max()), retry_at_.value_or(SteadyTime::max()));
}

}  // namespace breakwatch::engine
