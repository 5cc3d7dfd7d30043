#include "paths.h"

#include <algorithm>

namespace breakwatch::hub_replay {

std::string FolderName(std::string_view id) {
  std::string name;
  for (const char c : id) name += c == '/' ? std::string("--") : std::string(1, c);
  return name;
}

bool IsPlainPath(std::string_view path) {
  if (path.empty() || path.size() > 1024 || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    if (part.size() == path.size()) return true;
    path.remove_prefix(part.size() + 1);
  }
}

bool IsModelId(std::string_view id) { return IsPlainPath(id) && std::count(id.begin(), id.end(), '/') <= 1; }

}  // namespace breakwatch::hub_replay
