// What a manifest says about the recorded call: arguments, outputs and tolerances.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "breakwatch/core/package.h"
#include "breakwatch/core/result.h"

namespace breakwatch::artifact {

struct TensorSpec {
  std::string name;   // of an argument; of an output: its path in the model's return value
  std::string dtype;  // as torch names it
  std::vector<std::int64_t> shape;
};

// |actual - expected| may be atol + rtol * |expected|.
struct Tolerance {
  double rtol = 0, atol = 0;
};

struct Recorded {
  std::vector<TensorSpec> inputs, outputs;     // in flat order
  std::map<std::string, Tolerance> tolerance;  // by dtype
};

// Reads these fields strictly: every one, no other inside them, each in its bounds. Pure. Error: kInvalid with the
// field's name.
Result<Recorded> ReadRecorded(const Manifest& manifest);

}  // namespace breakwatch::artifact
