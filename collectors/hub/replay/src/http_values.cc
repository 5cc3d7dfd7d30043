#include "http_values.h"

#include <algorithm>

#include "breakwatch/core/text.h"

namespace breakwatch::hub_replay {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view Request::Path() const { return std::string_view(target).substr(0, target.find('?')); }

std::string_view Request::RawQuery() const {
  const auto mark = target.find('?');
  return mark == std::string::npos ? std::string_view() : std::string_view(target).substr(mark + 1);
}

std::optional<std::string> Request::Header(std::string_view name) const {
  const std::string wanted = Lower(name);
  for (const auto& [key, value] : headers) {
    if (Lower(key) == wanted) return value;
  }
  return std::nullopt;
}

Answer& Answer::With(std::string name, std::string_view value) {
  std::string safe(value);
  std::replace_if(
      safe.begin(), safe.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  headers.emplace_back(std::move(name), std::move(safe));
  return *this;
}

std::string Decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() && text[i] == '%' ? HexValue(text[i + 1]) : -1;
    const int low = high >= 0 ? HexValue(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

Pairs ParseQuery(std::string_view raw) {
  Pairs pairs;
  while (!raw.empty()) {
    const std::string_view part = raw.substr(0, raw.find('&'));
    raw.remove_prefix(std::min(raw.size(), part.size() + 1));
    if (part.empty()) continue;
    const auto mark = part.find('=');
    const std::string_view value = mark == std::string_view::npos ? std::string_view() : part.substr(mark + 1);
    pairs.emplace_back(Decode(part.substr(0, mark), true), Decode(value, true));
  }
  return pairs;
}

std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

bool IsTrue(std::string_view value) { return value == "true" || value == "True" || value == "1"; }

}  // namespace breakwatch::hub_replay
