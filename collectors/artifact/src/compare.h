// Compares an output of a package with the recorded eager output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recorded.h"
#include "safetensors.h"

namespace breakwatch::artifact {

struct Comparison {
  bool within = false;
  std::string why;  // empty if within
  std::optional<double> max_abs,
      max_rel;                           // over the elements that are numbers in both; nullopt: an infinite difference
  std::optional<std::uint64_t> max_ulp;  // of floating-point types: how many numbers of the type lie between
  std::optional<double> cosine;          // nullopt without a finite one: an output of zeros, or of other sizes
  std::vector<std::int64_t> worst;       // indices of the element that is furthest from its tolerance
  bool nan_positions_equal = true;
};

// Floating-point elements: |actual - expected| <= atol + rtol * |expected|; NaN only where NaN is expected; an infinity
// only where the same one is expected. All others must be equal. `tolerance` is not used for them. Pure.
Comparison Compare(const TensorBytes& expected, const TensorBytes& actual, const Tolerance& tolerance);

}  // namespace breakwatch::artifact
