// CaptureDeadline: the daemon's own limit for one capture, slightly longer than the limits that the zygote enforces.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "breakwatch/core/capture.h"

namespace breakwatch::capture {

class CaptureDeadline {
 public:
  CaptureDeadline() = default;  // no deadline
  // Starts the deadline: `job` was sent at `now`.
  CaptureDeadline(const CaptureJob& job, std::chrono::milliseconds grace, SteadyTime now);

  // The worker reported the start of a phase.
  void Enter(std::string_view phase, SteadyTime now);
  SteadyTime Next() const { return phase_ends_ < all_ends_ ? phase_ends_ : all_ends_; }
  // The limit that was exceeded at `now`: "capture exceeded its limit of 300 s".
  std::string Passed(SteadyTime now) const;

 private:
  std::chrono::milliseconds LimitOf(std::string_view phase) const;

  CaptureLimits limits_;
  std::chrono::milliseconds grace_{}, all_{};
  std::string phase_ = "create";
  SteadyTime phase_ends_ = SteadyTime::max(), all_ends_ = SteadyTime::max();
};

}  // namespace breakwatch::capture
