#include <algorithm>
#include <array>
#include <charconv>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "exposition_labels.h"
#include "filter_node.h"

namespace breakwatch {
namespace {

// In the order of FilterKey; the id has no key.
constexpr std::array<FilterKeyHelp, 10> kKeys = {{
    {"family", "family: nlp, vision, audio, multimodal, tabular, ..."},
    {"arch", "class of the model, one of config.json's architectures"},
    {"type", "model_type of config.json"},
    {"task", "task (pipeline_tag) on the Hub"},
    {"library", "library on the Hub: transformers, diffusers, ..."},
    {"reason", "reason of a graph break: GBnnnn, or its text"},
    {"status", "status; also failed (no numbers, and not skipped), skipped, numbers or incomplete"},
    {"mode", "mode of the result, with its call: eval, cold, eval+minimal, ..."},
    {"owner", "owner by models.file"},
    {"shard", "part of all models, by their ids: 2/4 is the second of four"},
}};

struct StatusGroup {
  std::string_view name;
  bool (*contains)(Status);
};
// `failed` is what `report --list` counts as FAILED.
constexpr std::array<StatusGroup, 4> kStatusGroups = {{
    {"failed", [](Status status) { return !HasNumbers(status) && !IsSkipped(status); }},
    {"skipped", IsSkipped},
    {"numbers", HasNumbers},
    {"incomplete", IsIncomplete},
}};

char LowerOf(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The position after the character at `at`, in bytes.
std::size_t AfterCharacter(std::string_view text, std::size_t at) {
  do {
    ++at;
  } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

// "2/4" is {1, 4}.
std::optional<Shard> ParseShard(std::string_view text) {
  std::size_t place = 0, count = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, place);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, count);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  if (place < 1 || place > count || count > kMaxFilterShards) return std::nullopt;
  return Shard{place - 1, count};
}

void Add(std::vector<std::string>& facts, const std::string& fact) {
  if (!fact.empty()) facts.push_back(fact);
}

std::vector<std::string> StatusNames(Status status) {
  std::vector<std::string> names{std::string(StatusName(status))};
  for (const StatusGroup& group : kStatusGroups) {
    if (group.contains(status)) names.emplace_back(group.name);
  }
  return names;
}

// The closed sets. Empty: any text is possible.
std::vector<std::string> AllNames(FilterKey key) {
  std::vector<std::string> names;
  if (key == FilterKey::kFamily) {
    for (const Family family : AllFamilies()) names.emplace_back(FamilyName(family));
  } else if (key == FilterKey::kStatus) {
    for (const Status status : AllStatuses()) names.emplace_back(StatusName(status));
    for (const StatusGroup& group : kStatusGroups) names.emplace_back(group.name);
  } else if (key == FilterKey::kMode) {
    names = AllStoredModes();
    names.emplace_back(kImport);
  }
  return names;
}

}  // namespace

std::span<const FilterKeyHelp> FilterKeys() { return kKeys; }

namespace filter {

std::optional<FilterKey> ParseKey(std::string_view name) {
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    if (kKeys[i].name == name) return static_cast<FilterKey>(i + 1);
  }
  return std::nullopt;
}

std::string_view KeyName(FilterKey key) {
  return key == FilterKey::kId ? "id" : kKeys[static_cast<std::size_t>(key) - 1].name;
}

std::vector<std::string> KeyNames() {
  std::vector<std::string> names;
  for (const FilterKeyHelp& key : kKeys) names.emplace_back(key.name);
  return names;
}

bool HasWildcard(std::string_view text) { return text.find_first_of("*?") != text.npos; }

bool Like(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = pattern.npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, retry = t;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p, t = AfterCharacter(text, t);
    } else if (p < pattern.size() && pattern[p] == LowerOf(text[t])) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1, t = ++retry;  // the star takes one byte more
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

Result<void> CheckValue(FilterKey key, const std::string& value) {
  if (key == FilterKey::kShard) {
    if (ParseShard(value)) return {};
    return Error{ErrorCode::kUsage, "invalid shard \"" + value + "\": expected I/N, such as 2/4, with N from 1 to " +
                                        std::to_string(kMaxFilterShards) + " and I from 1 to N"};
  }
  const auto names = AllNames(key);
  const bool known = names.empty() || std::any_of(names.begin(), names.end(),
                                                  [&](const std::string& name) { return Like(name, value); });
  if (known) return {};
  const auto nearest = NearestName(value, names);
  const std::string hint = nearest ? "; did you mean \"" + *nearest + "\"?" : ": expected one of " + Joined(names);
  return Error{ErrorCode::kUsage, "unknown " + std::string(KeyName(key)) + " \"" + value + "\"" + hint};
}

std::vector<std::string> Facts(FilterKey key, const FilterSubject& subject) {
  std::vector<std::string> facts;
  switch (key) {
    case FilterKey::kId:
      Add(facts, subject.id);
      Add(facts, subject.requested_id);
      break;
    case FilterKey::kFamily:
      facts.emplace_back(FamilyName(subject.family));
      break;
    case FilterKey::kArch:
      return subject.architectures;
    case FilterKey::kType:
      Add(facts, subject.model_type);
      break;
    case FilterKey::kTask:
      Add(facts, subject.task);
      break;
    case FilterKey::kLibrary:
      Add(facts, subject.library);
      break;
    case FilterKey::kReason:
      for (const auto& reason : subject.reasons) Add(facts, reason.name), Add(facts, reason.gb_id);
      break;
    case FilterKey::kStatus:
      for (const Status status : subject.statuses) {
        for (std::string& name : StatusNames(status)) facts.push_back(std::move(name));
      }
      break;
    case FilterKey::kMode:
      Add(facts, subject.mode);
      break;
    case FilterKey::kOwner:
      return subject.owners;
    case FilterKey::kShard:
      break;  // of the id
  }
  return facts;
}

bool TermMatches(FilterKey key, std::string_view pattern, const FilterSubject& subject) {
  if (key == FilterKey::kId) return Like(subject.id, pattern) || Like(subject.requested_id, pattern);
  if (key == FilterKey::kShard) return IsInShard(subject.id, *ParseShard(pattern));
  const auto facts = Facts(key, subject);
  return std::any_of(facts.begin(), facts.end(), [&](const std::string& fact) { return Like(fact, pattern); });
}

}  // namespace filter
}  // namespace breakwatch
