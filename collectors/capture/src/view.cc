#include "view.h"

#include <algorithm>
#include <cstdlib>

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;

void AddOnce(const fs::path& path, std::vector<fs::path>* paths) {
  if (std::find(paths->begin(), paths->end(), path) == paths->end()) paths->push_back(path);
}

// Without a trailing slash, because paths are compared.
fs::path AbsolutePath(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

fs::path Home() {
  const char* home = std::getenv("HOME");
  const fs::path real = home == nullptr ? fs::path() : RealPath(home);
  return real == "/" ? fs::path() : real;
}

// Dot files contain keys, tokens and histories, of too many programs to list.
void HideDotFiles(const fs::path& home, std::vector<fs::path>* hidden) {
  std::error_code error;
  for (fs::directory_iterator at(home, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with('.')) hidden->push_back(at->path());
  }
}

}  // namespace

fs::path RealPath(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? fs::path() : real;
}

bool IsBelow(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

View MakeView(const std::vector<std::string>& readable, const std::vector<std::string>& hidden,
              const std::vector<std::string>& writable) {
  View view;
  for (const std::string& path : writable) {
    if (const fs::path real = RealPath(path); !real.empty() && real != "/") AddOnce(real, &view.writable);
  }
  std::vector<fs::path> real_paths;
  for (const std::string& path : readable) {
    const fs::path real = RealPath(path);
    if (path.empty() || real.empty() || real == "/") continue;
    AddOnce(AbsolutePath(path), &view.readable);
    AddOnce(real, &view.readable);
    AddOnce(real, &real_paths);
  }
  std::vector<fs::path> shown = real_paths;
  for (const fs::path& path : SystemFiles()) {
    if (fs::path real = RealPath(path); !real.empty()) shown.push_back(std::move(real));
  }
  std::vector<fs::path> secrets;
  for (const std::string& path : hidden) {
    if (const fs::path real = path.empty() ? fs::path() : RealPath(path); !real.empty()) secrets.push_back(real);
  }
  const fs::path home = Home();
  const auto shows_home = [&](const fs::path& real) { return !home.empty() && IsBelow(home, real); };
  if (std::any_of(shown.begin(), shown.end(), shows_home)) HideDotFiles(home, &secrets);
  for (const fs::path& secret : secrets) {
    const bool matters = std::any_of(shown.begin(), shown.end(),
                                     [&](const fs::path& real) { return secret != real && IsBelow(secret, real); });
    const bool asked_for = std::find(real_paths.begin(), real_paths.end(), secret) != real_paths.end();
    if (matters && !asked_for) AddOnce(secret, &view.hidden);
  }
  return view;
}

const std::vector<fs::path>& SystemFiles() {
  static const std::vector<fs::path> kFiles = {"/usr",
                                               "/bin",
                                               "/sbin",
                                               "/lib",
                                               "/lib32",
                                               "/lib64",
                                               "/libx32",
                                               "/nix/store",
                                               "/etc/ld.so.cache",
                                               "/etc/ld.so.conf",
                                               "/etc/ld.so.conf.d",
                                               "/etc/alternatives",
                                               "/etc/localtime",
                                               "/sys/devices/system"};
  return kFiles;
}

}  // namespace breakwatch::capture
