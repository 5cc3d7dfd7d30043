// Compresses request bodies.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch::net {

// One gzip member. Error: kInternal when zlib has no memory.
Result<std::string> Gzip(std::string_view body);

}  // namespace breakwatch::net
