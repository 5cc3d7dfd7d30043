#include "admission.h"

#include <algorithm>

namespace breakwatch::engine {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
// The estimate for an unknown capture: a reduced model of a common class.
constexpr double kSeconds = 3, kSecondsPerBillion = 1, kMostSeconds = 30;
constexpr double kMiBytes = 1024;
// The share of the available memory for captures. The rest is for other programs.
constexpr double kShare = 0.9;

const store::CaptureCost* Find(const CostsByName& costs, const std::string& name) {
  const auto found = costs.find(name);
  return found == costs.end() ? nullptr : &found->second;
}

const store::CaptureCost* Measured(const PlannedModel& planned, const KnownCosts& costs) {
  if (const auto* cost = Find(costs.structures, planned.structure)) return cost;
  const auto& classes = planned.info.architectures;
  const auto* cost = classes.empty() ? nullptr : Find(costs.classes, classes.front());
  return cost != nullptr ? cost : Find(costs.model_types, planned.info.model_type);
}

Expected Guess(const PlannedModel& planned) {
  const double billions = static_cast<double>(planned.info.params.value_or(0)) / 1e9;
  return {std::min(kSeconds + billions * kSecondsPerBillion, kMostSeconds), static_cast<std::int64_t>(kMiBytes * kMiB)};
}

}  // namespace

std::vector<Expected> ExpectCosts(const Plan& plan, const std::map<std::string, KnownCosts>& costs) {
  std::vector<Expected> expected;
  for (const PlannedModel& planned : plan.models) {
    Expected one = Guess(planned);
    const auto of_mode = costs.find(planned.mode);
    if (const auto* cost = of_mode == costs.end() ? nullptr : Measured(planned, of_mode->second)) {
      one.seconds = cost->wall_s;
      if (cost->peak_rss_mb > 0) one.bytes = static_cast<std::int64_t>(cost->peak_rss_mb * kMiB);
    }
    one.seconds *= planned.repeat;
    expected.push_back(one);
  }
  return expected;
}

void Admission::Sort(std::deque<std::size_t>& waiting) const {
  const auto seconds = [&](std::size_t entry) { return entry < expected_.size() ? expected_[entry].seconds : 0; };
  std::stable_sort(waiting.begin(), waiting.end(),
                   [&](std::size_t a, std::size_t b) { return seconds(a) > seconds(b); });
}

std::optional<std::size_t> Admission::Next(const std::deque<std::size_t>& waiting) {
  if (waiting.empty()) return std::nullopt;
  const std::optional<std::int64_t> now = Ask();
  if (captures_ == 0) {
    if (now) total_ = static_cast<std::int64_t>(static_cast<double>(*now) * kShare);
    if (bound_ > 0) total_ = bound_;
    return 0;
  }
  for (std::size_t place = 0; place < waiting.size(); ++place) {
    const std::int64_t need = Bytes(waiting[place]);
    const bool within_total = !total_ || running_ + need <= *total_;
    // Other programs use the memory too, so the current value also limits it.
    const bool there_now = bound_ > 0 || !now || need <= *now;
    if (within_total && there_now) return place;
  }
  return std::nullopt;
}

}  // namespace breakwatch::engine
