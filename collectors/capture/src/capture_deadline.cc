#include "capture_deadline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "seconds.h"

namespace breakwatch::capture {
namespace {

using std::chrono::milliseconds;

// The maximum number of child processes of one capture, each with its own limits. A capture runs reduced, at full
// depth, and at full depth with every layer. Each can be repeated from the point of failure.
constexpr int kChildren = 6;

milliseconds SumOf(const CaptureLimits& limits) {
  return limits.create + limits.inputs + limits.eager + limits.capture;
}

// The components of a pipeline are captured one after the other.
int ComponentsOf(const CaptureJob& job) {
  if (job.is_source || job.config_json.find("\"components\"") == std::string::npos) return 1;
  const auto config = nlohmann::json::parse(job.config_json, nullptr, /*allow_exceptions=*/false);
  const auto components = config.is_object() ? config.find("components") : config.end();
  if (!config.is_object() || components == config.end() || !components->is_object()) return 1;
  return std::clamp(static_cast<int>(components->size()), 1, 64);
}

}  // namespace

CaptureDeadline::CaptureDeadline(const CaptureJob& job, milliseconds grace, SteadyTime now)
    : limits_(job.limits),
      grace_(grace),
      all_(SumOf(job.limits) * kChildren * std::max(1, job.repeat) * ComponentsOf(job)),
      all_ends_(now + all_ + grace) {
  Enter(phase_, now);
}

void CaptureDeadline::Enter(std::string_view phase, SteadyTime now) {
  phase_ = phase;
  phase_ends_ = now + LimitOf(phase) + grace_;
}

std::string CaptureDeadline::Passed(SteadyTime now) const {
  if (now >= all_ends_) return "the capture exceeded " + Seconds(all_) + ", the sum of its limits";
  return phase_ + " exceeded its limit of " + Seconds(LimitOf(phase_));
}

milliseconds CaptureDeadline::LimitOf(std::string_view phase) const {
  if (phase == "create") return limits_.create;
  if (phase == "inputs") return limits_.inputs;
  if (phase == "eager") return limits_.eager;
  if (phase == "capture") return limits_.capture;
  return SumOf(limits_);  // a phase that only newer workers have
}

}  // namespace breakwatch::capture
