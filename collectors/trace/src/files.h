// TraceFiles: which files of a directory are traces, and of which rank each is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::trace {

struct TraceFile {
  std::string path;
  std::optional<std::int64_t> rank;  // by its name, else by its first records
  std::uint64_t bytes = 0;
};

// Ordered by rank, those without one last, then by name. `path` may be one file. Error: kUsage, none there.
Result<std::vector<TraceFile>> TraceFiles(const std::string& path, std::size_t max_line_bytes);

}  // namespace breakwatch::trace
