// ReadTraces: reads the TORCH_TRACE directory of a real job as the result of a capture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/result.h"

namespace breakwatch::trace {

struct ReadOptions {
  // Called about every 8 MiB and at the end, on the calling thread; may be empty.
  std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)> progress{};
  std::stop_token stop{};
  std::size_t max_line_bytes = 16u << 20;  // a longer one is skipped and counted
};

struct Import {
  CaptureResult capture;  // status, numbers and sites of the published rank; what the trace lacks is absent
  std::string digest;     // SHA-256, hex: of all records and of their payloads' own digests
  std::uint64_t bytes = 0;
  std::int64_t files = 0, records = 0;
  std::vector<std::string> warnings;  // for the operator: what could not be read, and how ranks differ
};

// Reads one trace file or all of a directory, one at a time, in memory that does not grow with them. Several ranks:
// the lowest one's numbers are published, all are in capture.mode_detail_json. Thread: the caller's.
// Error: kUsage if there is nothing to read; kInvalid without a compilation; kInterrupted after a stop request.
Result<Import> ReadTraces(const std::string& path, const ReadOptions& options = {});

}  // namespace breakwatch::trace
