// Attribute: which of three factors changed a value, from the combinations of old and new states. Pure.
//
// A combination is the set of factors that are in their new state; the others are in their old state. Bit 1 torch, bit
// 2 transformers, bit 4 the model's commit. Each factor is changed alone twice: from the old state, and back from the
// new one. If both changes of each factor have the same effect, the factors act independently; otherwise they interact.
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
inline constexpr unsigned kAllFactors = 7, kCombinations = 8;

// "torch", "transformers and the model's commit", ...; "nothing" without factors.
std::string FactorNames(unsigned factors);

// The value of each combination; nullopt if unknown.
using CombinationValues = std::array<std::optional<std::int64_t>, kCombinations>;

enum class Cause {
  kNothing,      // the value is the same in the old and the new state
  kAlone,        // one factor, in any state of the others
  kEach,         // several factors, each causes a part of it in any state of the others
  kTogether,     // only if all of these are new
  kAny,          // as soon as one of these is new
  kInteraction,  // these interact differently
  kUnknown,      // too few combinations have a value
};
std::string_view CauseName(Cause cause);  // "nothing", "alone", "each", "together", "any", "interaction", "unknown"

struct Attribution {
  Cause cause = Cause::kUnknown;
  unsigned factors = 0;  // those that changed it
  bool certain = true;   // false: a required combination has no value
  unsigned missing = 0;  // bit i: the required combination i has no value
};

// `factors`: those that differ between the old state (combination 0) and the new one (combination `factors`).
Attribution Attribute(const CombinationValues& values, unsigned factors);

// The result of one combination, or why it has none.
struct CombinationResult {
  unsigned combination = 0;
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
  std::vector<CombinationResult> combinations;  // by combination
  Attribution verdict;                          // of the whole outcome
  std::vector<ChangedSite> sites;
  std::string text;  // the verdict in one line
};

// Finds what changed the whole outcome and each site. `combinations` holds one entry for each subset of `factors`.
Bisection Bisect(const std::string& model, unsigned factors, std::vector<CombinationResult> combinations);

}  // namespace breakwatch::compare
