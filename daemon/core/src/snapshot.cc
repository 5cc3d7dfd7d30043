#include "breakwatch/core/snapshot.h"

namespace breakwatch {

const Numbers* Snapshot::NumbersOf(const TrackedModel& model) const {
  const auto it = model.numbers.find(toolchain_key);
  return it == model.numbers.end() ? nullptr : &it->second;
}

}  // namespace breakwatch
