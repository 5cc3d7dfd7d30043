// Attribute: which of three factors moved a value, judged by the corners between the old state and the new. Pure.
//
// A corner is a set of factors at their new state, the others at their old: bit 1 torch, bit 2 transformers, bit 4
// the model's commit. A factor is flipped alone twice: from the old state and back from the new one. Where both flips
// of each factor agree the factors act on their own; where they do not, they interact.
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

// "torch", "transformers and the model's commit", ...; "nothing" of no factor.
std::string FactorNames(unsigned factors);

// The values at the corners; nullopt where it is not known.
using Corners = std::array<std::optional<std::int64_t>, kCorners>;

enum class Cause {
  kNothing,      // the value is the same in the old and the new state
  kAlone,        // one factor, whatever the others are
  kEach,         // several factors, each its own share, whatever the others are
  kTogether,     // only when all of these are new
  kAny,          // as soon as one of these is new
  kInteraction,  // these act on each other in another way
  kUnknown,      // too few corners
};
std::string_view CauseName(Cause cause);  // "nothing", "alone", "each", "together", "any", "interaction", "unknown"

struct Attribution {
  Cause cause = Cause::kUnknown;
  unsigned factors = 0;  // that moved it
  bool certain = true;   // false: a corner that would tell is missing
  unsigned missing = 0;  // bit i: corner i would have been needed
};

// `factors`: which differ between the old state (corner 0) and the new (corner `factors`).
Attribution Attribute(const Corners& values, unsigned factors);

// One corner of a model: its result, or why there is none.
struct CornerResult {
  unsigned corner = 0;
  std::string toolchain, torch, transformers, commit;
  std::optional<ModelResult> result;
  std::string why;  // without a result: one line
};

// A site whose events differ between the old and the new state, and what moved it.
struct MovedSite {
  BreakSite site;
  std::int64_t before = 0, after = 0;
  Attribution by;
};

struct Bisection {
  std::string model;
  unsigned factors = 0;
  std::vector<CornerResult> corners;  // by corner
  Attribution verdict;                // of the whole outcome
  std::vector<MovedSite> sites;
  std::string text;  // the verdict in one line
};

// Judges the whole outcome and each site. `corners` holds one entry for each subset of `factors`.
Bisection Bisect(const std::string& model, unsigned factors, std::vector<CornerResult> corners);

}  // namespace breakwatch::compare
