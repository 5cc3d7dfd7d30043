// CaptureDeadline: the daemon's own bound on one capture, a little past the limits that the zygote enforces.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "breakwatch/core/capture.h"

namespace breakwatch::capture {

class CaptureDeadline {
 public:
  CaptureDeadline() = default;  // never
  // The capture of `job` was sent at `now`.
  CaptureDeadline(const CaptureJob& job, std::chrono::milliseconds grace, SteadyTime now);

  // The worker said that a phase begins.
  void Enter(std::string_view phase, SteadyTime now);
  SteadyTime Next() const { return phase_ends_ < all_ends_ ? phase_ends_ : all_ends_; }
  // What was passed at `now`: "capture exceeded its limit of 300 s".
  std::string Passed(SteadyTime now) const;

 private:
  std::chrono::milliseconds LimitOf(std::string_view phase) const;

  CaptureLimits limits_;
  std::chrono::milliseconds grace_{}, all_{};
  std::string phase_ = "create";
  SteadyTime phase_ends_ = SteadyTime::max(), all_ends_ = SteadyTime::max();
};

}  // namespace breakwatch::capture
