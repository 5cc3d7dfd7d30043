#include "breakwatch/core/text.h"

#include <openssl/evp.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>

namespace breakwatch {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Length of the valid UTF-8 sequence at `p`; 0 if it is invalid (overlong, surrogate, out of range, truncated).
std::size_t SequenceLength(const unsigned char* p, std::size_t left) {
  const unsigned char lead = p[0];
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || left < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((p[i] & 0xC0) != 0x80) return 0;
  }
  if ((lead == 0xE0 && p[1] < 0xA0) || (lead == 0xED && p[1] > 0x9F)) return 0;
  if ((lead == 0xF0 && p[1] < 0x90) || (lead == 0xF4 && p[1] > 0x8F)) return 0;
  return length;
}

std::string DigestHex(std::string_view bytes, const EVP_MD* method) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, method, nullptr);
  return Hex(std::span(digest).first(size));
}

}  // namespace

std::string ToUtf8(std::string_view bytes) {
  const bool has_zero = bytes.find('\0') != std::string_view::npos;
  if (!has_zero && simdjson::validate_utf8(bytes.data(), bytes.size())) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size());
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = SequenceLength(data + i, bytes.size() - i);
    out.append(length == 0 ? kReplacement : bytes.substr(i, length));
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string Truncate(std::string_view utf8, std::size_t max_bytes) {
  if (utf8.size() <= max_bytes) return std::string(utf8);
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(utf8[end]) & 0xC0) == 0x80) --end;
  return std::string(utf8.substr(0, end));
}

std::string ShortLine(std::string_view bytes, std::size_t max_bytes) {
  constexpr std::size_t kRestOfCharacter = 3;  // a character at the limit is cut off as a whole
  std::string line(bytes.substr(0, max_bytes + kRestOfCharacter));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return Truncate(ToUtf8(line), max_bytes);
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string ShellQuoted(std::string_view text) {
  const bool plain =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,") ==
      std::string_view::npos;
  if (plain && !text.empty()) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string FormatTime(SystemTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto days = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date{days};
  const std::chrono::hh_mm_ss clock{seconds - days};
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%09lldZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<long long>((time - seconds).count()));
  return out.data();
}

std::optional<SystemTime> ParseTime(std::string_view text) {
  // "YYYY-MM-DDThh:mm:ss[.fraction]Z": the format of the Hub and of our documents.
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < kShape.size() + 1 || text.back() != 'Z') return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == 'd' ? !digit : text[i] != kShape[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t count) {
    int value = 0;
    std::from_chars(text.data() + at, text.data() + at + count, value);
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!date.ok() || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 60) return std::nullopt;
  std::int64_t nanoseconds = 0;
  const std::string_view fraction = text.substr(kShape.size(), text.size() - kShape.size() - 1);
  if (!fraction.empty()) {
    if (fraction[0] != '.' || fraction.size() < 2 || fraction.size() > 10) return std::nullopt;
    std::int64_t unit = 100'000'000;
    for (const char digit : fraction.substr(1)) {
      if (digit < '0' || digit > '9') return std::nullopt;
      nanoseconds += (digit - '0') * unit;
      unit /= 10;
    }
  }
  return SystemTime{std::chrono::sys_days{date}} + std::chrono::hours(number(11, 2)) +
         std::chrono::minutes(number(14, 2)) + std::chrono::seconds(number(17, 2)) +
         std::chrono::nanoseconds(nanoseconds);
}

std::string CompactTime(SystemTime time) {
  std::string text = FormatTime(time).substr(0, std::string_view("YYYY-MM-DDThh:mm:ss").size());
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

std::string Hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string Sha1Hex(std::string_view bytes) { return DigestHex(bytes, EVP_sha1()); }
std::string Sha256Hex(std::string_view bytes) { return DigestHex(bytes, EVP_sha256()); }

std::string GitBlobId(std::string_view content) {
  std::string object = "blob " + std::to_string(content.size());
  object += '\0';
  return Sha1Hex(object.append(content));
}

std::string Base64Url(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    held += 8;
    while (held >= 6) {
      held -= 6;
      out += kAlphabet[bits >> held & 63];
    }
  }
  if (held > 0) out += kAlphabet[bits << (6 - held) & 63];
  return out;
}

bool IsCommit(std::string_view text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<std::string> NearestName(std::string_view word, const std::vector<std::string>& candidates) {
  std::optional<std::string> nearest;
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > 256 || word.size() > 256) continue;
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j < row.size(); ++j) {
        const std::size_t replace = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
      }
    }
    if (row.back() < best) {
      best = row.back();
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace breakwatch
