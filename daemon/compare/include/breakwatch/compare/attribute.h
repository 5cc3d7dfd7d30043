// Attribute: which of three factors changed a value, from the combinations of old and new states. Pure.
//
// A corner is a combination: a set of factors in their new state, the others in their old. Bit 1 torch, bit 2
// transformers, bit 4 the model's commit. Each factor is flipped alone twice: from the old state, and back from the new
// one. If both flips of each factor agree, the factors act independently; otherwise they interact.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/sweep.h"

namespace breakwatch::compare {

inline constexpr unsigned kTorch = 1, kTransformers = 2, kCommit = 4;
inline constexpr unsigned kAllFactors = 7, kCorners = 8;

// "torch", "transformers and the model's commit", ...; "nothing" without factors.
std::string FactorNames(unsigned factors);

// The values at the corners; nullopt if unknown.
using Corners = std::array<std::optional<std::int64_t>, kCorners>;

enum class Cause {
  kNothing,      // the value is the same in the old and the new state
  kAlone,        // one factor, whatever the others are
  kEach,         // several factors, each a part of it, whatever the others are
  kTogether,     // only if all of these are new
  kAny,          // as soon as one of these is new
  kInteraction,  // these interact in another way
  kUnknown,      // too few corners
};
std::string_view CauseName(Cause cause);  // "nothing", "alone", "each", "together", "any", "interaction", "unknown"

struct Attribution {
  Cause cause = Cause::kUnknown;
  unsigned factors = 0;  // that changed it
  bool certain = true;   // false: a needed corner is missing
  unsigned missing = 0;  // bit i: corner i would have been needed
};

// `factors`: those that differ between the old state (corner 0) and the new one (corner `factors`).
Attribution Attribute(const Corners& values, unsigned factors);

// One corner of a model: its result, or why it has none.
struct CornerResult {
  unsigned corner = 0;
  std::string toolchain, torch, transformers, commit;
  std::optional<ModelResult> result;
  std::string why;  // without a result: one line
};

// A site whose events differ between the old and the new state, and what changed it.
struct ChangedSite {
  BreakSite site;
  std::int64_t before = 0, after = 0;
  Attribution by;
};

struct Bisection {
  std::string model;
  unsigned factors = 0;
  std::vector<CornerResult> corners;  // by corner
  Attribution verdict;                // of the whole outcome
  std::vector<ChangedSite> sites;
  std::string text;  // the verdict in one line
};

// Judges the whole outcome and each site. `corners` holds one entry for each subset of `factors`.
Bisection Bisect(const std::string& model, unsigned factors, std::vector<CornerResult> corners);

}  // namespace breakwatch::compare
