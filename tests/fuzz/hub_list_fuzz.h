// Passes arbitrary bytes to all code that reads the Hub's answers; must neither crash nor hang.
#pragma once

#include <string_view>

namespace breakwatch::fuzz {

void ReadHubBytes(std::string_view bytes);

}  // namespace breakwatch::fuzz
