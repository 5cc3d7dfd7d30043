#include "json_scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace breakwatch::trace {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

std::size_t SkipBlank(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r')) ++at;
  return at;
}

// Characters that end a run of ordinary characters inside a string.
constexpr std::array<bool, 256> MakeStops() {
  std::array<bool, 256> stops{};
  for (std::size_t c = 0; c < 0x20; ++c) stops[c] = true;
  stops['"'] = stops['\\'] = true;
  return stops;
}
constexpr std::array<bool, 256> kStops = MakeStops();

bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The end of an escape that begins at `at`, or kNone.
std::size_t SkipEscape(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return kNone;
  if (text[at + 1] != 'u') return std::string_view("\"\\/bfnrt").find(text[at + 1]) == kNone ? kNone : at + 2;
  if (at + 6 > text.size()) return kNone;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    if (!IsHex(text[i])) return kNone;
  }
  return at + 6;
}

// `at` is after the opening quote. Returns the offset after the closing quote.
std::size_t SkipString(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (!kStops[static_cast<unsigned char>(text[at])]) {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    } else if (text[at] != '\\' || (at = SkipEscape(text, at)) == kNone) {
      return kNone;
    }
  }
  return kNone;
}

std::size_t SkipWord(std::string_view text, std::size_t at) {
  // Python writes NaN and infinities as bare words.
  for (const std::string_view word : {"true", "false", "null", "NaN", "Infinity", "-Infinity"}) {
    if (text.substr(at, word.size()) == word) return at + word.size();
  }
  return kNone;
}

std::size_t SkipNumber(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && std::string_view("+-.eE0123456789").find(text[end]) != kNone) ++end;
  double value = 0;
  const char* last = text.data() + end;
  return std::from_chars(text.data() + at, last, value).ptr == last && end > at ? end : kNone;
}

std::size_t SkipArray(std::string_view text, std::size_t at, int depth) {
  at = SkipBlank(text, at + 1);
  if (at < text.size() && text[at] == ']') return at + 1;
  while ((at = SkipValue(text, at, depth + 1)) != kNone) {
    at = SkipBlank(text, at);
    if (at >= text.size()) return kNone;
    if (text[at] == ']') return at + 1;
    if (text[at] != ',') return kNone;
    at = SkipBlank(text, at + 1);
  }
  return kNone;
}

struct MemberAt {
  std::string_view key, value;
  std::size_t end = kNone;
};

// Reads a member of an object. `at` is the opening quote of its key.
MemberAt ReadMember(std::string_view text, std::size_t at, int depth) {
  MemberAt member;
  if (at >= text.size() || text[at] != '"') return member;
  const std::size_t key_end = SkipString(text, at + 1);
  if (key_end == kNone) return member;
  member.key = text.substr(at + 1, key_end - at - 2);
  at = SkipBlank(text, key_end);
  if (at >= text.size() || text[at] != ':') return member;
  at = SkipBlank(text, at + 1);
  member.end = SkipValue(text, at, depth);
  if (member.end != kNone) member.value = text.substr(at, member.end - at);
  return member;
}

std::size_t SkipObject(std::string_view text, std::size_t at, int depth) {
  at = SkipBlank(text, at + 1);
  if (at < text.size() && text[at] == '}') return at + 1;
  while (true) {
    const MemberAt member = ReadMember(text, at, depth + 1);
    if (member.end == kNone) return kNone;
    at = SkipBlank(text, member.end);
    if (at >= text.size()) return kNone;
    if (text[at] == '}') return at + 1;
    if (text[at] != ',') return kNone;
    at = SkipBlank(text, at + 1);
  }
}

void AppendUtf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

unsigned HexAt(std::string_view text, std::size_t at) {
  unsigned code = 0;
  if (at + 4 <= text.size()) std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
  return code;
}

// Appends the character that the escape at `at` encodes. Returns the offset after the escape. The text is well-formed.
std::size_t Unescape(std::string_view text, std::size_t at, std::string& out) {
  static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
  if (text[at + 1] != 'u') {
    out += kTo[kFrom.find(text[at + 1])];
    return at + 2;
  }
  unsigned code = HexAt(text, at + 2);
  at += 6;
  const bool high = code >= 0xD800 && code < 0xDC00;
  if (high && text.substr(at, 2) == "\\u") {
    const unsigned low = HexAt(text, at + 2);
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      at += 6;
    }
  }
  if (code >= 0xD800 && code < 0xE000) code = 0xFFFD;  // half of a surrogate pair
  AppendUtf8(out, code);
  return at;
}

}  // namespace

std::size_t SkipValue(std::string_view text, std::size_t at, int depth) {
  if (at >= text.size() || depth > kMaxJsonDepth) return kNone;
  switch (text[at]) {
    case '"':
      return SkipString(text, at + 1);
    case '{':
      return SkipObject(text, at, depth);
    case '[':
      return SkipArray(text, at, depth);
    case 't':
    case 'f':
    case 'n':
    case 'N':
    case 'I':
      return SkipWord(text, at);
    default:
      return text.substr(at, 2) == "-I" ? SkipWord(text, at) : SkipNumber(text, at);
  }
}

ObjectScan::ObjectScan(std::string_view text) : text_(text) {
  at_ = SkipBlank(text_, 0);
  good_ = at_ < text_.size() && text_[at_] == '{';
  if (good_) at_ = SkipBlank(text_, at_ + 1);
}

bool ObjectScan::Next(std::string_view& key, std::string_view& value) {
  if (!good_ || done_) return false;
  const char next = at_ < text_.size() ? text_[at_] : '\0';
  if (next == '}') {
    done_ = true;
    good_ = SkipBlank(text_, at_ + 1) == text_.size();
    return false;
  }
  if (!first_) {
    good_ = next == ',';
    if (!good_) return false;
    at_ = SkipBlank(text_, at_ + 1);
  }
  first_ = false;
  const MemberAt member = ReadMember(text_, at_, 1);
  good_ = member.end != kNone;
  if (!good_) return false;
  key = member.key;
  value = member.value;
  at_ = SkipBlank(text_, member.end);
  return true;
}

bool IsObject(std::string_view value) { return value.starts_with('{'); }
bool IsNull(std::string_view value) { return value.empty() || value == "null"; }
bool IsTrue(std::string_view value) { return value == "true"; }

std::optional<std::string> AsString(std::string_view value, std::size_t max_bytes) {
  if (value.size() < 2 || value.front() != '"') return std::nullopt;
  const std::string_view inside = value.substr(1, value.size() - 2);
  std::string out;
  std::size_t at = 0;
  while (at < inside.size() && out.size() < max_bytes) {
    const std::size_t plain = inside.find('\\', at);
    const std::size_t end = std::min(plain == kNone ? inside.size() : plain, at + (max_bytes - out.size()));
    out.append(inside.substr(at, end - at));
    at = end;
    if (at < inside.size() && at == plain && at + 1 < inside.size()) at = Unescape(inside, at, out);
  }
  return out;
}

std::optional<std::int64_t> AsInt(std::string_view value) {
  std::int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

std::optional<double> AsNumber(std::string_view value) {
  double number = 0;
  const char* end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string_view Member(std::string_view object, std::string_view key) {
  ObjectScan scan(object);
  std::string_view name, value;
  while (scan.Next(name, value)) {
    if (name == key) return value;
  }
  return {};
}

std::string_view Element(std::string_view array, int index) {
  if (!array.starts_with('[')) return {};
  std::string_view found;
  std::size_t at = SkipBlank(array, 1);
  for (int i = 0; at < array.size() && array[at] != ']'; ++i) {
    const std::size_t end = SkipValue(array, at, 1);
    if (end == kNone) return {};
    if (i == index || index < 0) found = array.substr(at, end - at);
    if (i == index) return found;
    at = SkipBlank(array, end);
    if (at < array.size() && array[at] == ',') at = SkipBlank(array, at + 1);
  }
  return index < 0 ? found : std::string_view();
}

}  // namespace breakwatch::trace
