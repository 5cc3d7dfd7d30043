#include "prose.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "escape.h"

namespace breakwatch::report {
namespace {

bool IsOfPath(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) || std::string_view("/._-+@~%#=").find(c) < 11;
}

// The offset of the package in a path below an interpreter's folders.
std::optional<std::size_t> PackageAt(std::string_view path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    if (const auto at = path.rfind(folder); at != std::string_view::npos) return at + folder.size();
  }
  constexpr std::string_view kStandard = "/lib/python";
  const auto at = path.rfind(kStandard);
  if (at == std::string_view::npos) return std::nullopt;
  const auto end = path.find('/', at + kStandard.size());
  return end == std::string_view::npos ? std::nullopt : std::optional(end + 1);
}

bool IsBelow(std::string_view path, std::string_view folder) {
  return folder.size() > 1 && path.size() > folder.size() + 1 && path.starts_with(folder) && path[folder.size()] == '/';
}

std::string ShortPath(std::string_view path, const Style& style) {
  if (const auto package = PackageAt(path); package && *package < path.size())
    return std::string(path.substr(*package));
  if (IsBelow(path, style.directory)) return std::string(path.substr(style.directory.size() + 1));
  if (IsBelow(path, style.home)) return "~" + std::string(path.substr(style.home.size()));
  return std::string(path);
}

}  // namespace

std::string ShortPaths(std::string_view text, const Style& style) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = static_cast<std::size_t>(
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), IsOfPath) - text.begin());
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    out += word.front() == '/' ? ShortPath(word, style) : std::string(word);
    at = end;
  }
  return out;
}

std::vector<std::string> Wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (!lines.back().empty() && DisplayWidth(lines.back()) + 1 + DisplayWidth(word) > columns) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

}  // namespace breakwatch::report
