#include "breakwatch/core/printable.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

// Reset, bold, faint, red, green, yellow.
constexpr std::array<std::string_view, 6> kColors = {"\x1b[0m",  "\x1b[1m",  "\x1b[2m",
                                                     "\x1b[31m", "\x1b[32m", "\x1b[33m"};

// The character at `at` of valid UTF-8 if it must be escaped, else 0. `size` is set to its length.
unsigned Obeyed(std::string_view text, std::size_t at, std::size_t& size) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  size = 1;
  if (byte(0) < 0x20 || byte(0) == 0x7F) return byte(0);
  if (byte(0) == 0xC2 && byte(1) < 0xA0) return size = 2, byte(1);  // U+0080 to U+009F
  const unsigned bidi = byte(0) == 0xE2 ? (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F) : 0;
  const bool turns = (bidi >= 0x2A && bidi <= 0x2E) || (bidi >= 0x66 && bidi <= 0x69);  // added to U+2000
  return turns ? (size = 3, 0x2000 | bidi) : 0;
}

std::string_view ColorAt(std::string_view text) {
  const auto found = std::find_if(kColors.begin(), kColors.end(), [&](auto color) { return text.starts_with(color); });
  return found == kColors.end() ? std::string_view() : *found;
}

std::string Escape(std::string_view text, Lines lines, bool colors) {
  const std::string valid = ToUtf8(text);
  const std::string_view view = valid;
  std::string out;
  out.reserve(valid.size());
  std::size_t size = 1;
  for (std::size_t i = 0; i < view.size(); i += size) {
    const unsigned code = Obeyed(view, i, size);
    const bool line = code == '\n' || code == '\t';
    const std::string_view color = colors ? ColorAt(view.substr(i)) : std::string_view();
    if (!color.empty()) {
      out += color;
      size = color.size();
    } else if (code == 0 || (line && lines == Lines::kKeep)) {
      out += view.substr(i, size);
    } else if (line) {
      out += code == '\n' ? "\\n" : "\\t";
    } else {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", code);
      out += escaped.data();
    }
  }
  return out;
}

}  // namespace

std::string Printable(std::string_view text, Lines lines) { return Escape(text, lines, /*colors=*/false); }
std::string PrintableInColor(std::string_view text) { return Escape(text, Lines::kKeep, /*colors=*/true); }

}  // namespace breakwatch
