// Clock: the interface to time. Wall time names moments, steady time measures durations.
#pragma once

#include <chrono>

namespace breakwatch {

using SystemTime = std::chrono::sys_time<std::chrono::nanoseconds>;
using SteadyTime = std::chrono::steady_clock::time_point;

// Thread: any. Lives as long as the program.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual SystemTime Now() const = 0;
  virtual SteadyTime Steady() const = 0;
};

// The machine's clock.
const Clock& RealClock();

}  // namespace breakwatch
