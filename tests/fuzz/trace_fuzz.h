// Passes arbitrary bytes to all code that reads traces; must neither crash nor hang.
#pragma once

#include <string_view>

namespace breakwatch::fuzz {

void ReadTraceBytes(std::string_view bytes);

}  // namespace breakwatch::fuzz
