#include "breakwatch/core/snapshot.h"

#include "breakwatch/core/mode.h"

namespace breakwatch {

std::string NumbersKey(const std::string& toolchain_key, std::string_view mode) {
  return mode.empty() || mode == kMainMode ? toolchain_key : toolchain_key + "/" + std::string(mode);
}

const Numbers* Snapshot::NumbersOf(const TrackedModel& model) const {
  const auto it = model.numbers.find(toolchain_key);
  return it == model.numbers.end() ? nullptr : &it->second;
}

const FixEffects* Snapshot::FixesOf(const TrackedModel& model) const {
  const auto it = model.fixes.find(toolchain_key);
  return it == model.fixes.end() ? nullptr : &it->second;
}

const Measurement* Snapshot::MeasurementOf(const TrackedModel& model, std::span<const std::string_view> modes) const {
  const Measurement* newest = nullptr;
  for (const std::string_view mode : modes) {
    const auto it = model.measured.find(NumbersKey(toolchain_key, mode));
    if (it == model.measured.end()) continue;
    if (newest == nullptr || newest->measured_at < it->second.measured_at) newest = &it->second;
  }
  return newest;
}

}  // namespace breakwatch
