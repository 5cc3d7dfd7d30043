#include "breakwatch/core/clock.h"

namespace breakwatch {
namespace {

class MachineClock final : public Clock {
 public:
  SystemTime Now() const override { return std::chrono::system_clock::now(); }
  SteadyTime Steady() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace

const Clock& RealClock() {
  static const MachineClock clock;
  return clock;
}

}  // namespace breakwatch
