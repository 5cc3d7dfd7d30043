// What a worker found in mode `repro`: a Python file that repeats a capture.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch {

struct Repro {
  std::string script;   // the file; empty if there is none
  std::string why_not;  // why there is none
  std::string differs;  // what went wrong when it was run in another process; empty: it found the same
};

// Reads CaptureResult::mode_detail_json of mode `repro`. Error: kInvalid, naming the field.
Result<Repro> ReadRepro(std::string_view mode_detail_json);

}  // namespace breakwatch
