// Text at the borders: UTF-8 repair and bounds, times, digests, base64.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/clock.h"

namespace breakwatch {

// Replaces every invalid UTF-8 sequence by U+FFFD and every NUL by U+FFFD: safe for JSON, labels and both databases.
std::string ToUtf8(std::string_view bytes);
// At most `max_bytes` bytes, cut at a character's border.
std::string Truncate(std::string_view utf8, std::size_t max_bytes);
// "1 model", "2 models".
template <std::integral Count>
std::string Counted(Count count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

// "a, b, c".
template <class Names>
std::string Joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// RFC 3339, UTC, nine digits of nanoseconds: "2026-11-21T02:05:12.000000001Z".
std::string FormatTime(SystemTime time);
std::optional<SystemTime> ParseTime(std::string_view text);

// Lower-case hex.
std::string Sha256Hex(std::string_view bytes);
// RFC 4648 section 5 (URL-safe alphabet) without padding.
std::string Base64Url(std::string_view bytes);

// True for 40 lower-case hex digits, a commit as the Hub writes it.
bool IsCommit(std::string_view text);

// The candidate nearest to `word` by edit distance, when it is near enough to be a typing error.
std::optional<std::string> NearestName(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace breakwatch
