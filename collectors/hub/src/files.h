// Reading files whose size is not ours to choose.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::hub {

// A regular file's bytes (links are followed). Error: kNotFound when it does not exist, kInvalid when it is longer than
// `max_bytes` or no regular file, kUnavailable when it cannot be read; the message names the path.
Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace breakwatch::hub
