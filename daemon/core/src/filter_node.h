// The syntax tree of a ModelFilter, and the facts that its terms are compared with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "breakwatch/core/model_filter.h"

namespace breakwatch {

struct ModelFilter::Node {
  // kFile is an "or" of the lines of a file, of which those that are plain ids are in `ids`.
  enum class Op { kTerm, kFile, kNot, kAnd, kOr };
  Op op = Op::kTerm;
  FilterKey key = FilterKey::kId;         // of a kTerm
  std::string text{};                     // of a kTerm; in lower case
  std::unordered_set<std::string> ids{};  // of a kFile; in lower case
  std::vector<Node> children{};
};

namespace filter {

std::optional<FilterKey> ParseKey(std::string_view name);
std::string_view KeyName(FilterKey key);
// "arch, family, ..." in the order of the documentation.
std::vector<std::string> KeyNames();

bool HasWildcard(std::string_view text);
// `pattern` is in lower case.
bool Like(std::string_view text, std::string_view pattern);

// Error: the value is of a closed set of names (families, statuses, modes) and matches none of them.
Result<void> CheckValue(FilterKey key, const std::string& value);
bool TermMatches(FilterKey key, std::string_view pattern, const FilterSubject& subject);
// The values of a fact.
std::vector<std::string> Facts(FilterKey key, const FilterSubject& subject);

}  // namespace filter
}  // namespace breakwatch
