// A clock that moves only when a test moves it; both of its times move together.
#pragma once

#include <atomic>
#include <chrono>

#include "breakwatch/core/clock.h"

namespace breakwatch::fakes {

// Thread: any.
class FakeClock : public Clock {
 public:
  explicit FakeClock(SystemTime start = SystemTime{std::chrono::seconds{1'767'225'600}}) : start_(start) {}

  SystemTime Now() const override { return start_ + std::chrono::nanoseconds{elapsed_.load()}; }
  SteadyTime Steady() const override {
    return SteadyTime{std::chrono::hours{1}} +
           std::chrono::duration_cast<SteadyTime::duration>(std::chrono::nanoseconds{elapsed_.load()});
  }

  void Advance(std::chrono::nanoseconds by) { elapsed_ += by.count(); }
  // Never backwards.
  void AdvanceTo(SteadyTime when) {
    if (when > Steady()) Advance(when - Steady());
  }

 private:
  SystemTime start_;
  std::atomic<std::int64_t> elapsed_{0};
};

}  // namespace breakwatch::fakes
