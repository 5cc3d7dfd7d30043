// The event file: one JSON object a line, rotated, for Alloy (or anyone) to follow.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "breakwatch/core/exporters.h"

namespace breakwatch::exporters {

struct EventFileOptions {
  std::string name = "file";
  std::string path;                     // its folder is made when missing
  std::int64_t max_bytes = 64LL << 20;  // a batch that would pass this goes to a new file
  int keep = 5;                         // rotated files: PATH.1 is the newest
};

// Every batch is on the disk when it is delivered. A write that fails (a full disk) is taken back to the last
// whole line and tried again; a half line from a crash is cut off at the next start, and a batch that was
// written but not noted as sent is recognised by its lines. Somebody else may rename the file away.
std::unique_ptr<EventExporter> MakeEventFile(EventFileOptions options);

}  // namespace breakwatch::exporters
