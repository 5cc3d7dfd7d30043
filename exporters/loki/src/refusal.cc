#include "refusal.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "breakwatch/core/text.h"

namespace breakwatch::exporters {
namespace {

constexpr std::size_t kMaxReasonBytes = 400;
constexpr std::int64_t kSecond = 1'000'000'000;

// The text between `before` and `after`; empty if one is missing.
std::string_view Between(std::string_view text, std::string_view before, std::string_view after) {
  const auto from = text.find(before);
  if (from == text.npos) return {};
  text.remove_prefix(from + before.size());
  return text.substr(0, std::min(text.find(after), text.size()));
}

std::optional<std::size_t> Number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "+02:00", "+0200", "Z" in seconds.
std::optional<std::int64_t> Offset(std::string_view text) {
  if (text == "Z") return 0;
  if (text.size() < 5 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const auto hours = Number(text.substr(1, 2)), minutes = Number(text.substr(text.size() - 2));
  if (!hours || !minutes) return std::nullopt;
  const auto seconds = static_cast<std::int64_t>(*hours * 3600 + *minutes * 60);
  return text[0] == '-' ? -seconds : seconds;
}

std::optional<std::int64_t> Nanoseconds(const std::string& local, std::string_view offset) {
  const auto time = ParseTime(local + "Z");
  const auto shift = Offset(offset);
  if (!time || !shift) return std::nullopt;
  return time->time_since_epoch().count() - *shift * kSecond;
}

// RFC 3339 to the second, in the server's time zone.
std::optional<std::int64_t> SecondOf(std::string_view text) {
  constexpr std::size_t kDateAndTime = 19;
  if (text.size() <= kDateAndTime) return std::nullopt;
  return Nanoseconds(std::string(text.substr(0, kDateAndTime)), text.substr(kDateAndTime));
}

// "2026-10-07 01:35:32.405 +0000 UTC", as Go prints a time.
std::optional<std::int64_t> GoTime(std::string_view text) {
  const auto date = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(date.size() + 1, text.size()));
  const auto time = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(time.size() + 1, text.size()));
  return Nanoseconds(std::string(date) + "T" + std::string(time), text.substr(0, text.find(' ')));
}

std::int64_t FloorToSecond(std::int64_t ns) { return ns - ns % kSecond; }

// --- refused before they reach a stream: by their age, length or metadata. Each text has a number of entries.

class LimitErrors {
 public:
  LimitErrors(std::span<const SentEntry> sent) : sent_(sent), reasons_(sent.size()), why_(sent.size()) {}

  // False: the text is none of those, or does not fit the entries.
  bool Take(std::string_view group);
  // nullopt: an entry that Loki must have refused was not named.
  std::optional<Refusal> Finish();

 private:
  template <class Is>
  bool TakeAll(std::size_t count, std::string_view text, const Is& is, bool first_ones = false);
  bool TakeOld(std::size_t count, std::string_view text);
  bool TakeNew(std::size_t count, std::string_view text);
  bool TakeLong(std::size_t count, std::string_view text);
  bool TakeMetadataDisallowed(std::size_t count, std::string_view text);
  bool TakeMetadataTooLarge(std::size_t count, std::string_view text);
  bool TakeMetadataTooMany(std::size_t count, std::string_view text);

  std::span<const SentEntry> sent_;
  std::vector<std::string> reasons_;  // by entry; empty: not refused
  std::vector<RefusedFor> why_;
  RefusedFor kind_ = RefusedFor::kOther;  // of the text that is being read
  std::size_t longest_ = SIZE_MAX;        // the limit of a line
  Refusal refusal_;
};

// Takes the entries that `is` selects. Their number must be `count`; with `first_ones` there may be more.
template <class Is>
bool LimitErrors::TakeAll(std::size_t count, std::string_view text, const Is& is, bool first_ones) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < sent_.size() && !(first_ones && taken == count); ++i) {
    if (!reasons_[i].empty() || !is(sent_[i])) continue;
    reasons_[i] = ShortLine(text, kMaxReasonBytes);
    why_[i] = kind_;
    ++taken;
  }
  return taken == count;
}

// Times are printed to the second. Of several entries in the second of the limit, the oldest are refused.
bool LimitErrors::TakeOld(std::size_t count, std::string_view text) {
  const auto second = SecondOf(Between(text, "has timestamp too old: ", ","));
  if (const auto oldest = SecondOf(Between(text, "oldest acceptable timestamp is: ", "\n")))
    refusal_.oldest_ns = oldest;
  return second && TakeAll(
                       count, text, [&](const SentEntry& entry) { return FloorToSecond(entry.ts_ns) == *second; },
                       /*first_ones=*/true);
}

bool LimitErrors::TakeNew(std::size_t count, std::string_view text) {
  const auto second = SecondOf(Between(text, "has timestamp too new: ", ";"));
  return second && TakeAll(count, text, [&](const SentEntry& entry) { return FloorToSecond(entry.ts_ns) == *second; });
}

bool LimitErrors::TakeLong(std::size_t count, std::string_view text) {
  const auto length = Number(Between(text, "while adding an entry with length '", "'"));
  const auto limit = Number(Between(text, "ax entry size '", "'"));
  if (limit) longest_ = *limit;
  return length && limit && TakeAll(count, text, [&](const SentEntry& entry) { return entry.line_size == *length; });
}

bool LimitErrors::TakeMetadataDisallowed(std::size_t count, std::string_view text) {
  refusal_.metadata_disallowed = true;
  return TakeAll(count, text, [](const SentEntry& entry) { return entry.metadata_entries > 0; });
}

bool LimitErrors::TakeMetadataTooLarge(std::size_t count, std::string_view text) {
  const auto size = Number(Between(text, "structured metadata too large: '", "'"));
  return size && TakeAll(count, text, [&](const SentEntry& entry) { return entry.metadata_size == *size; });
}

bool LimitErrors::TakeMetadataTooMany(std::size_t count, std::string_view text) {
  const auto entries = Number(Between(text, "too many structured metadata labels: '", "'"));
  return entries && TakeAll(count, text, [&](const SentEntry& entry) { return entry.metadata_entries == *entries; });
}

bool LimitErrors::Take(std::string_view group) {
  struct Kind {
    std::string_view phrase;
    RefusedFor why;
    bool (LimitErrors::*take)(std::size_t, std::string_view);
  };
  static constexpr Kind kKinds[] = {
      {"has timestamp too old: ", RefusedFor::kAge, &LimitErrors::TakeOld},
      {"has timestamp too new: ", RefusedFor::kOther, &LimitErrors::TakeNew},
      {"ax entry size '", RefusedFor::kOther, &LimitErrors::TakeLong},
      {"includes structured metadata, but this feature is disallowed", RefusedFor::kMetadata,
       &LimitErrors::TakeMetadataDisallowed},
      {"has structured metadata too large: '", RefusedFor::kMetadata, &LimitErrors::TakeMetadataTooLarge},
      {"has too many structured metadata labels: '", RefusedFor::kMetadata, &LimitErrors::TakeMetadataTooMany},
  };
  std::size_t count = 1;
  constexpr std::string_view kLike = " errors like: ";
  if (const auto like = group.find(kLike); like != group.npos) {
    const auto number = Number(group.substr(0, like));
    if (!number) return false;
    count = *number;
    group.remove_prefix(like + kLike.size());
  }
  const auto kind =
      std::ranges::find_if(kKinds, [&](const Kind& known) { return group.find(known.phrase) != group.npos; });
  if (kind == std::end(kKinds)) return false;
  kind_ = kind->why;
  return (this->*kind->take)(count, group);
}

// An old Loki reports only one of several errors. The limits in the text show that others must have been refused too.
std::optional<Refusal> LimitErrors::Finish() {
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    if (!reasons_[i].empty()) {
      refusal_.entries.push_back({i, why_[i], std::move(reasons_[i])});
    } else if (sent_[i].line_size > longest_ || FloorToSecond(sent_[i].ts_ns) < refusal_.oldest_ns.value_or(0)) {
      return std::nullopt;
    }
  }
  return std::move(refusal_);
}

std::vector<std::string_view> Split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (auto at = text.find(separator); at != text.npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

std::optional<Refusal> ReadLimitErrors(std::string_view text, std::span<const SentEntry> sent) {
  LimitErrors errors(sent);
  auto groups = Split(text, "; ");
  // An entry that is too old or too new is not checked further, so these come first.
  std::ranges::stable_partition(groups,
                                [](std::string_view group) { return group.find("has timestamp too ") != group.npos; });
  for (const std::string_view group : groups) {
    if (!errors.Take(group)) return std::nullopt;
  }
  return errors.Finish();
}

// --- refused by their stream: they are older than its newest entry allows. The first ten are named, all are counted.

std::optional<Refusal> ReadStreamErrors(std::string_view text, std::span<const SentEntry> sent) {
  const auto count = Number(Between(text, "total ignored: ", " out of "));
  const auto of = Number(Between(text, " out of ", " for stream: "));
  // With fewer entries, others were refused before they reached the stream. The answer does not name those.
  if (!count || of != sent.size() || *count == 0 || *count > sent.size()) return std::nullopt;
  Refusal refusal;
  std::string reason;
  constexpr std::string_view kEntry = "entry with timestamp ";
  for (auto at = text.find(kEntry); at != text.npos; at = text.find(kEntry)) {
    text.remove_prefix(at);
    reason = Between(text, "reason: '", "',\n");
    // The entries are in order, so a stream refuses the first ones.
    const std::size_t place = refusal.entries.size();
    if (!reason.starts_with("entry too far behind") && !reason.starts_with("entry out of order")) return std::nullopt;
    if (place >= *count || GoTime(Between(text, kEntry, " ignored")) != sent[place].ts_ns) return std::nullopt;
    refusal.entries.push_back({place, RefusedFor::kStreamAge, ShortLine(reason, kMaxReasonBytes)});
    if (const auto oldest = SecondOf(Between(reason, "oldest acceptable timestamp is: ", "'")))
      refusal.stream_oldest_ns = oldest;
    text.remove_prefix(kEntry.size());
  }
  if (refusal.entries.empty()) return std::nullopt;
  const std::string others = "as the entries before it: " + ShortLine(reason, kMaxReasonBytes);
  while (refusal.entries.size() < *count)
    refusal.entries.push_back({refusal.entries.size(), RefusedFor::kStreamAge, others});
  return refusal;
}

}  // namespace

std::optional<Refusal> ReadRefusal(std::string_view text, std::span<const SentEntry> sent) {
  text = Trim(text);
  return text.find("total ignored: ") != text.npos ? ReadStreamErrors(text, sent) : ReadLimitErrors(text, sent);
}

}  // namespace breakwatch::exporters
