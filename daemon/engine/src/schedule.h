// Schedule: when the daemon by itself wants a sweep: ticks of the interval, and retries of what failed.
#pragma once

#include <chrono>
#include <optional>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/result.h"

namespace breakwatch::engine {

class Schedule {
 public:
  using Interval = std::optional<std::chrono::seconds>;

  // The first tick comes an interval after the newest sweep's start (`since` ago, absent: never), else at once: a
  // restart neither skips a sweep nor adds one.
  void Begin(Interval interval, SteadyTime now, std::optional<std::chrono::nanoseconds> since);
  // The interval may have changed with the settings; its next tick is one interval from now then.
  void Use(Interval interval, SteadyTime now);

  bool TickIsDue(SteadyTime now) const { return next_tick_ && now >= *next_tick_; }
  // Ticks that lie behind are answered together; the next keeps the rhythm, so that long sweeps cause no drift.
  void PassTicks(SteadyTime now);

  void Failed(const Error& error, SteadyTime now);
  void Worked();
  // True once for each failure, when its pause is over.
  bool TakeRetry(SteadyTime now);

  SteadyTime Next() const;  // max: never

 private:
  Interval interval_;
  std::optional<SteadyTime> next_tick_, retry_at_;
  int failures_ = 0;
};

}  // namespace breakwatch::engine
