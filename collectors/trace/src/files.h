// TraceFiles: finds the trace files in a directory, and the rank of each.
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
  std::optional<std::int64_t> rank;  // from its name, otherwise from its first records
  std::uint64_t bytes = 0;
};

// Ordered by rank, then by name; files without a rank come last. `path` may be a single file. Error: kUsage if there
// are none.
Result<std::vector<TraceFile>> TraceFiles(const std::string& path, std::size_t max_line_bytes);

}  // namespace breakwatch::trace
