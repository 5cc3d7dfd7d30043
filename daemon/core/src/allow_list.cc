#include "breakwatch/core/allow_list.h"

namespace breakwatch {

std::string Describe(const AllowEntry& entry) {
  static constexpr const char* kNames[] = {"model ", "site ", "reason "};
  return kNames[static_cast<int>(entry.of)] + entry.value;
}

}  // namespace breakwatch
