// What a manifest says about the recorded call: arguments, outputs and tolerances.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "breakwatch/core/package.h"
#include "breakwatch/core/result.h"
#include "safetensors.h"

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
  bool flush_denormals = false;                // the call was made so; a manifest may leave it out
};

// Reads these fields strictly: every one, no other inside them, each in its bounds. Pure. Error: kInvalid with the
// field's name.
Result<Recorded> ReadRecorded(const Package& package);

// Why the files that the manifest lists are too few to check the package by; empty if they are enough. A dynamic
// package has a second call, of another batch. Pure.
std::string WhyIncomplete(const Manifest& manifest);

// How the tensors of a call are not those that the manifest describes; empty if they are. Pure.
std::string WhyNotDescribed(const std::vector<TensorSpec>& specs, const std::vector<TensorBytes>& tensors);

// The file of a package that is loaded.
std::string ModelFileOf(const Manifest& manifest);

struct CaseFiles {
  const char* inputs;
  const char* outputs;
};
inline constexpr CaseFiles kFirstCase{"inputs.safetensors", "outputs.safetensors"},
    kSecondCase{"inputs-2.safetensors", "outputs-2.safetensors"};

// Whether a call has other sizes than the first one, in tensors of the same number.
bool IsOtherBatch(const std::vector<TensorBytes>& first, const std::vector<TensorBytes>& second);

}  // namespace breakwatch::artifact
