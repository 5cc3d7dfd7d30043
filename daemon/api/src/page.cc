#include "page.h"

namespace breakwatch::api {

std::optional<std::string> TextOfCursor(const std::string& cursor) {
  std::string text;
  for (std::size_t i = 0; i < cursor.size(); i += 2) {
    unsigned byte = 0;
    const char* end = cursor.data() + std::min(i + 2, cursor.size());
    const auto parsed = std::from_chars(cursor.data() + i, end, byte, 16);
    if (parsed.ec != std::errc{} || parsed.ptr != cursor.data() + i + 2) return std::nullopt;
    text += static_cast<char>(byte);
  }
  return text;
}

Result<std::int64_t> PlaceOfCursor(const std::string& cursor) {
  if (cursor.empty()) return std::int64_t{0};
  std::int64_t place = 0;
  const char* end = cursor.data() + cursor.size();
  const auto parsed = std::from_chars(cursor.data(), end, place);
  if (parsed.ec != std::errc{} || parsed.ptr != end || place < 1) return BadCursor();
  return place;
}

}  // namespace breakwatch::api
