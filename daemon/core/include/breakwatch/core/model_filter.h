// ModelFilter: a boolean expression that selects models, such as `family:audio and not (status:timeout or org/*)`.
//
//   expression  := term | "not" expression | expression "and" expression | expression "or" expression | "(" ... ")"
//   term        := ID | KEY:VALUE | @FILE         a FILE holds one expression a line; a # starts a comment
//
// An ID or VALUE is compared with a whole fact of the model, ignoring case; * stands for any text, ? for one character.
// Quotes, "..." or '...', hold blanks, parentheses and colons together; * and ? keep their meaning in them. `not` binds
// most tightly, then `and`, then `or`. An absent fact matches nothing: `not owner:*` selects the models without owner.
// shard:2/4, without wildcards, matches the models whose id hashes to the second of four parts, on every machine.
//
// Not to be confused with selector.h, the names of the user's own models. They are ids here: `python:package.*`.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/family.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/status.h"

namespace breakwatch {

inline constexpr std::size_t kMaxFilterBytes = 64u << 10, kMaxFilterFileBytes = 1u << 20;
inline constexpr int kMaxFilterDepth = 32;  // of parentheses and nots
inline constexpr std::size_t kMaxFilterShards = 64;

// The facts by which a model is selected. Without a capture some are absent.
struct FilterSubject {
  struct Reason {
    std::string name, gb_id;
  };

  std::string id, requested_id;
  Family family = Family::kUnknown;
  std::vector<std::string> architectures;
  std::string model_type, task, library;
  std::string mode;  // empty: of no particular mode
  std::vector<std::string> owners;
  std::vector<Reason> reasons;
  std::vector<Status> statuses;
};

enum class FilterKey { kId, kFamily, kArch, kType, kTask, kLibrary, kReason, kStatus, kMode, kOwner, kShard };

// Thread: any; immutable.
class ModelFilter {
 public:
  // The content of an @FILE. Error: the file cannot be read, without its name.
  using ReadFile = std::function<Result<std::string>(const std::string& path)>;

  ModelFilter() = default;  // matches every model
  // Without `read_file`, @FILE is refused: a request over HTTP must not read files.
  // Error: kUsage, with the nearest name of an unknown key, family, status or mode; no shard.
  static Result<ModelFilter> Parse(std::string_view text, const ReadFile& read_file = {});
  // Matches what one of them matches. `filters` is not empty.
  static ModelFilter AnyOf(std::span<const ModelFilter> filters);
  // Matches what all of them match; without filters, every model.
  static ModelFilter AllOf(std::span<const ModelFilter> filters);
  // The models of an owner, as `owner:NAME`.
  static ModelFilter OfOwner(std::string_view name);

  bool Matches(const FilterSubject& subject) const;
  bool MatchesEverything() const { return root_ == nullptr; }
  bool Uses(FilterKey key) const;
  // As it was given.
  const std::string& text() const { return text_; }
  // An equal expression without @FILE, for another process. It may be longer than kMaxFilterBytes.
  std::string Expanded() const;
  // Error: kUsage, with the nearest name. Nothing is selected, or an id without wildcards that the expression (not one
  // of its files) includes is no subject's.
  Result<void> CheckSelects(std::span<const FilterSubject> subjects) const;
  // Error: kUsage, an owner that is not among `owners`.
  Result<void> CheckOwners(const std::vector<std::string>& owners) const;

  struct Node;

 private:
  static ModelFilter Chain(std::span<const ModelFilter> filters, std::string_view name);
  ModelFilter(std::string text, std::shared_ptr<const Node> root) : text_(std::move(text)), root_(std::move(root)) {}

  std::string text_;
  std::shared_ptr<const Node> root_;
};

// The keys with their meaning, for help texts: {"family", "family: nlp, vision, ..."}.
struct FilterKeyHelp {
  std::string_view name, meaning;
};
std::span<const FilterKeyHelp> FilterKeys();

// Whether a text that names models is an expression, and not one id ("org/name", "org/name@revision", "python:a:b").
bool IsModelFilter(std::string_view text);

}  // namespace breakwatch
