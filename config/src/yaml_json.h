// Converts YAML to JSON.
#pragma once

#include <yaml-cpp/node/node.h>

#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::config {

// Plain texts that JSON reads as a number, true, false or null become one; quoted texts stay texts. Error: kConfig, the
// node is too deep, or has too many values: an alias can repeat them.
Result<std::string> JsonOf(const YAML::Node& node);

}  // namespace breakwatch::config
