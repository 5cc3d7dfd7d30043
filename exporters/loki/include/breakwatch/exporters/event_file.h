// The event file: one JSON object a line, rotated, for Alloy (or anyone) to follow.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "breakwatch/core/exporters.h"

namespace breakwatch::exporters {

struct EventFileOptions {
  std::string name = "file";
  std::string path;                     // its directory is created if missing
  std::int64_t max_bytes = 64LL << 20;  // a batch that would exceed this goes to a new file
  int keep = 5;                         // rotated files: PATH.1 is the newest
};

// Every batch is on the disk when it is delivered. A failed write (a full disk) is truncated to the last
// complete line and retried; an incomplete line from a crash is removed at the next start, and a batch that was
// written but not recorded as sent is recognised by its lines. Other programs may rename the file.
std::unique_ptr<EventExporter> MakeEventFile(EventFileOptions options);

}  // namespace breakwatch::exporters
