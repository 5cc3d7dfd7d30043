#include "scratch.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;

// "zygote-<process id of the daemon>-<random>". The name alone identifies the owner of a folder.
constexpr std::string_view kPrefix = "zygote-";

bool IsAbandoned(const std::string& name) {
  if (!name.starts_with(kPrefix)) return false;
  const int owner = std::atoi(name.c_str() + kPrefix.size());
  return owner > 0 && kill(owner, 0) != 0 && errno == ESRCH;
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& parent) {
  if (parent.empty()) return;
  std::error_code error;
  fs::create_directories(parent, error);
  std::string name = fs::absolute(parent, error) / (std::string(kPrefix) + std::to_string(getpid()) + "-XXXXXX");
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void RemoveAbandonedFolders(const std::string& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (IsAbandoned(entry->path().filename())) fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace breakwatch::capture
