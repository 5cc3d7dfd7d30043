// The part of CheckJson that does not read the text as JSON.
#pragma once

#include <cstddef>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch {

// Error: kInvalid if the text is larger or nested deeper.
Result<void> CheckJsonBounds(std::string_view text, std::size_t max_bytes, int max_depth);

}  // namespace breakwatch
