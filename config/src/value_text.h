// Formats values as text.
#pragma once

#include <string>

#include "breakwatch/config/settings.h"

namespace breakwatch::config {

std::string DurationText(milliseconds duration);  // "30s", "24h", "1500ms": one unit, exact
std::string SizeText(std::int64_t bytes);         // "6GiB", "1000B": one unit, exact
// The text with the password of a URL replaced.
std::string Redacted(std::string text);

}  // namespace breakwatch::config
