#include "file_bytes.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace breakwatch::hub_replay {
namespace {

struct Range {
  std::size_t first = 0, last = 0;  // both included
  bool satisfiable = true;
};

std::optional<std::size_t> Number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Parses one range. Multiple or invalid ranges are ignored, as RFC 9110 allows.
std::optional<Range> ParseRange(std::string_view text, std::size_t size) {
  if (!text.starts_with("bytes=")) return std::nullopt;
  text.remove_prefix(6);
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, dash), after = text.substr(dash + 1);
  const auto first = Number(before), last = Number(after);
  if ((!before.empty() && !first) || (!after.empty() && !last) || (!first && !last)) return std::nullopt;
  if (!first) {  // a suffix range: the last bytes
    const std::size_t length = std::min(*last, size);
    return Range{size - length, size - 1, length > 0};
  }
  if (last && *last < *first) return std::nullopt;
  return Range{*first, std::min(last.value_or(size), size - 1), *first < size};
}

bool Names(std::string_view if_none_match, const std::string& etag) {
  return if_none_match == "*" || if_none_match.find('"' + etag + '"') != std::string_view::npos;
}

}  // namespace

Answer FileBytes(const Request& request, std::string content, const std::string& etag) {
  Answer answer;
  answer.content_type = "text/plain; charset=utf-8";
  answer.With("ETag", '"' + etag + '"').With("Accept-Ranges", "bytes");
  if (const auto known = request.Header("If-None-Match"); known && Names(*known, etag)) {
    answer.status = 304;
    return answer;
  }
  const auto header = request.Header("Range");
  const auto range = header ? ParseRange(*header, content.size()) : std::nullopt;
  if (!range) {
    answer.body = std::move(content);
    return answer;
  }
  // Not a text type: a partial answer must not be compressed.
  answer.content_type = "application/octet-stream";
  const std::string size = std::to_string(content.size());
  if (!range->satisfiable) {
    answer.status = 416;
    return answer.With("Content-Range", "bytes */" + size);
  }
  answer.status = 206;
  answer.body = content.substr(range->first, range->last - range->first + 1);
  return answer.With("Content-Range",
                     "bytes " + std::to_string(range->first) + "-" + std::to_string(range->last) + "/" + size);
}

}  // namespace breakwatch::hub_replay
