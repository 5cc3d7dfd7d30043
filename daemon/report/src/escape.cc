#include "escape.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "breakwatch/core/printable.h"
#include "breakwatch/core/text.h"

namespace breakwatch::report {
namespace {

constexpr std::string_view kEllipsis = "…";

// The character at `at` of valid UTF-8, and how many bytes it takes.
char32_t CodePoint(std::string_view utf8, std::size_t at, std::size_t& size) {
  const auto lead = static_cast<unsigned char>(utf8[at]);
  size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  size = std::min(size, utf8.size() - at);
  char32_t code = size == 1 ? lead : lead & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) code = code << 6 | (static_cast<unsigned char>(utf8[at + i]) & 0x3F);
  return code;
}

struct Range {
  char32_t first, last;
};
constexpr Range kNoWidth[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
                              {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064},
                              {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},  {0xAC00, 0xD7A3},
                           {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},   {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6},
                           {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

template <std::size_t N>
bool Within(const Range (&ranges)[N], char32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges), [&](Range r) { return code >= r.first && code <= r.last; });
}

std::size_t WidthOf(char32_t code) { return Within(kNoWidth, code) ? 0 : Within(kWide, code) ? 2 : 1; }

// True if the character changes the direction or position of the following text.
bool IsBidi(char32_t code) { return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069); }

// What a spreadsheet takes for the start of a formula; the last four are the wide forms of the first.
bool BeginsFormula(std::string_view field) {
  constexpr std::string_view kStarts[] = {"=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&](std::string_view start) { return field.starts_with(start); });
}

bool IsWord(std::string_view text, std::size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || (text[at] & 0x80));
}

}  // namespace

std::string OneLine(std::string_view text) {
  const std::string valid = ToUtf8(text);
  std::string out;
  std::size_t size = 0;
  for (std::size_t i = 0; i < valid.size(); i += size) {
    const char32_t code = CodePoint(valid, i, size);
    if (code == '\n' || code == '\t' || code == '\r') {
      out += ' ';
    } else if (code < 0x20 || (code >= 0x7F && code < 0xA0) || IsBidi(code)) {
      out += "\xEF\xBF\xBD";
    } else {
      out += valid.substr(i, size);
    }
  }
  return out;
}

std::string MarkdownText(std::string_view text) {
  const std::string line = OneLine(text);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    // An underscore within a word is not markup.
    const bool marks = c == '_' && !(i > 0 && IsWord(line, i - 1) && IsWord(line, i + 1));
    if (marks || std::string_view("\\`*[]|~#").find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '@') {
      out += "&#64;";  // "@name" would notify a user where reports are pasted
    } else {
      out += c;
    }
  }
  return out;
}

std::string CsvField(std::string_view text) {
  std::string field = Printable(text);
  if (BeginsFormula(field)) field.insert(0, 1, '\'');
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::size_t DisplayWidth(std::string_view utf8) {
  std::size_t width = 0, size = 0;
  for (std::size_t i = 0; i < utf8.size(); i += size) width += WidthOf(CodePoint(utf8, i, size));
  return width;
}

std::string Fit(std::string_view utf8, std::size_t columns) {
  if (DisplayWidth(utf8) <= columns) return std::string(utf8);
  if (columns == 0) return {};
  std::size_t width = 0, size = 0, end = 0;
  for (; end < utf8.size(); end += size) {
    width += WidthOf(CodePoint(utf8, end, size));
    if (width > columns - 1) break;
  }
  return std::string(utf8.substr(0, end)) + std::string(kEllipsis);
}

std::string FitEnd(std::string_view utf8, std::size_t columns) {
  std::size_t width = DisplayWidth(utf8), size = 0, begin = 0;
  if (width <= columns) return std::string(utf8);
  if (columns == 0) return {};
  for (; begin < utf8.size() && width > columns - 1; begin += size) width -= WidthOf(CodePoint(utf8, begin, size));
  return std::string(kEllipsis) + std::string(utf8.substr(begin));
}

std::string Pad(std::string_view utf8, std::size_t columns, bool right) {
  std::string text = Fit(utf8, columns);
  const std::string blanks(columns - DisplayWidth(text), ' ');
  return right ? blanks + text : text + blanks;
}

}  // namespace breakwatch::report
