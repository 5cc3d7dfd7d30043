// The identity of a state directory, for receivers that tell sources apart by it.
#pragma once

#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::wiring {

// A random UUID, made at the first call and kept in the file instance-id of the directory. Error: kStore.
Result<std::string> InstanceId(const std::string& state_dir);

}  // namespace breakwatch::wiring
