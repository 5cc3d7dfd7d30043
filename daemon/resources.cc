#include "resources.h"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace breakwatch {

namespace fs = std::filesystem;

std::string Root() {
  constexpr const char* kMark = "collectors/capture/structure_ignored.yaml";
  std::error_code ignored;
  const char* asked = std::getenv("BREAKWATCH_ROOT");
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& root : {fs::current_path(ignored), program.parent_path().parent_path(),
                               fs::path(asked == nullptr ? "" : asked), fs::path("/usr/share/breakwatch")}) {
    if (!root.empty() && fs::exists(root / kMark, ignored)) return root.string();
  }
  return fs::current_path(ignored).string();
}

std::string Resource(const std::string& path) {
  const bool plain = path.find('/') == std::string::npos;
  std::error_code ignored;
  if (plain || path.front() == '/') return path;
  if (fs::exists(path, ignored)) return fs::absolute(path, ignored).string();
  return (fs::path(Root()) / path).string();
}

std::string JsonText(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace breakwatch
