// Schedule: when the daemon starts a sweep by itself: ticks of the interval, and retries of failed sweeps.
#pragma once

#include <chrono>
#include <optional>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/result.h"

namespace breakwatch::engine {

class Schedule {
 public:
  using Interval = std::optional<std::chrono::seconds>;

  // The first tick is one interval after the start of the newest sweep (`since` ago, absent: never), or at once if that
  // has passed. So a restart neither skips nor adds a sweep.
  void Begin(Interval interval, SteadyTime now, std::optional<std::chrono::nanoseconds> since);
  // Sets the interval after a reload. If it changed, the next tick is one interval from now.
  void Use(Interval interval, SteadyTime now);

  bool TickIsDue(SteadyTime now) const { return next_tick_ && now >= *next_tick_; }
  // Handles all past ticks together. The next tick keeps the rhythm, so that long sweeps cause no drift.
  void PassTicks(SteadyTime now);

  void Failed(const Error& error, SteadyTime now);
  void Worked();
  // True once per failure, after its pause.
  bool TakeRetry(SteadyTime now);

  SteadyTime Next() const;                                           // max: never
  std::optional<SteadyTime> NextTick() const { return next_tick_; }  // without retries

 private:
  Interval interval_;
  std::optional<SteadyTime> next_tick_, retry_at_;
  int failures_ = 0;
};

}  // namespace breakwatch::engine
