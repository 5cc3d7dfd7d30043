// Backoff: when to retry a failed delivery: exponential pauses with jitter, and the peer's Retry-After.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

#include "breakwatch/core/clock.h"

namespace breakwatch::engine {

class Backoff {
 public:
  Backoff(std::chrono::milliseconds first, std::chrono::milliseconds longest)
      : first_(first), longest_(longest), pause_(first) {}

  // Schedules the next attempt after half to all of the pause, so that many daemons do not retry together. Not before
  // `after`.
  void Failed(SteadyTime now, std::optional<std::chrono::milliseconds> after) {
    std::uniform_int_distribution<std::int64_t> jitter(pause_.count() / 2, pause_.count());
    due_ = now + std::chrono::milliseconds(jitter(random_));
    not_before_ = after ? now + *after : SteadyTime{};
    pause_ = std::min(pause_ * 2, longest_);
    ++failures_;
  }
  void Worked() { *this = Backoff(first_, longest_, random_); }
  // Cancels the pause, but not the peer's Retry-After.
  void Hurry() { due_ = SteadyTime{}; }

  SteadyTime Due() const { return std::max(due_, not_before_); }
  int FailuresInARow() const { return failures_; }

 private:
  Backoff(std::chrono::milliseconds first, std::chrono::milliseconds longest, std::minstd_rand random)
      : first_(first), longest_(longest), pause_(first), random_(random) {}

  std::chrono::milliseconds first_, longest_, pause_;
  SteadyTime due_{}, not_before_{};
  int failures_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace breakwatch::engine
