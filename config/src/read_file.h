// Reads files that the settings name.
#pragma once

#include <cstddef>
#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::config {

// The bytes of a file or pipe. Stops one byte after `max_bytes`, so that the caller can tell a longer file.
// Error: kConfig, "cannot be read: Permission denied", without the path.
Result<std::string> ReadAtMost(const std::string& path, std::size_t max_bytes);

}  // namespace breakwatch::config
