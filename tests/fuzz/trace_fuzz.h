// One input of any bytes through everything that reads traces; must neither crash nor hang.
#pragma once

#include <string_view>

namespace breakwatch::fuzz {

void ReadTraceBytes(std::string_view bytes);

}  // namespace breakwatch::fuzz
