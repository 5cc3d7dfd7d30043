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

}  // namespace breakwatch
