// Which few break sites, changed, make the most models whole: a model is whole when all of its sites are changed.
// Pure; thread: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace breakwatch {

// A model that breaks.
struct BlockedModel {
  std::vector<int> sites;   // indices from 0, any order; a model without sites is never counted
  std::int64_t weight = 1;  // at least 1
};

// The best choice of so many sites that was found.
struct UnblockStep {
  std::vector<int> sites;   // ascending; only such that a model becomes whole by
  std::int64_t weight = 0;  // of the models that become whole by it
  bool exact = true;        // false: there may be a better choice
};

// The choices of at most 1, 2, ... sites, until all models are whole or `most` sites are reached. A larger choice need
// not contain a smaller one. Models that share sites, even by way of others, are searched together: exactly where at
// most `effort` partial choices decide it, otherwise greedily from there (most weight for each further site).
std::vector<UnblockStep> Unblock(std::span<const BlockedModel> models, std::size_t most,
                                 std::size_t effort = 1'000'000);

}  // namespace breakwatch
