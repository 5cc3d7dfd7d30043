// Text at the borders: UTF-8 repair and bounds, one-line text, times, digests, base64.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/clock.h"

namespace breakwatch {

// Replaces every invalid UTF-8 sequence by U+FFFD and every NUL by U+FFFD: safe for JSON, labels and both databases.
std::string ToUtf8(std::string_view bytes);
// At most `max_bytes` bytes, cut at a character's border.
std::string Truncate(std::string_view utf8, std::size_t max_bytes);
// Bytes from outside as one line of a message: valid UTF-8, at most `max_bytes` bytes, each control character (C0, DEL)
// a blank.
std::string ShortLine(std::string_view bytes, std::size_t max_bytes);
// Without the white space around it.
std::string_view Trim(std::string_view text);
// Up to the first line end.
std::string_view FirstLine(std::string_view text);
// As one word of a shell's command; plain words stay as they are.
std::string ShellQuoted(std::string_view text);
// Only A to Z change, in every locale.
std::string Lower(std::string_view text);
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
// For identifiers and file names, UTC, to the second: "20261121T020512".
std::string CompactTime(SystemTime time);

// Lower-case hex.
std::string Hex(std::span<const unsigned char> bytes);
std::string Sha1Hex(std::string_view bytes);
std::string Sha256Hex(std::string_view bytes);
// The object id that git gives a file of this content. The Hub uses it as ETag of files outside LFS.
std::string GitBlobId(std::string_view content);
// RFC 4648 section 5 (URL-safe alphabet) without padding.
std::string Base64Url(std::string_view bytes);

// True for 40 lower-case hex digits, a commit as the Hub writes it.
bool IsCommit(std::string_view text);

// The candidate nearest to `word` by edit distance, when it is near enough to be a typing error.
std::optional<std::string> NearestName(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace breakwatch
