// HTTP headers of a setting: a secret "name=value,name=value", or a file with a line "Name: value" for each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::config {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// Values of the text are percent-encoded, those of the file are not; lines of the file that begin with # are ignored.
// Error: kConfig, names the line but never a value. Both empty: none.
Result<HeaderList> ReadHeaders(const std::string& secret, const std::string& file);

}  // namespace breakwatch::config
