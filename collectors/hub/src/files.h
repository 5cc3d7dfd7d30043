// Reads files of untrusted size.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::hub {

// The bytes of a regular file (links are followed). Error: kNotFound if it does not exist, kInvalid if it is longer
// than `max_bytes` or not a regular file, kUnavailable if it cannot be read. The message contains the path.
Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace breakwatch::hub
