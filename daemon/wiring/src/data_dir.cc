#include "data_dir.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "breakwatch/wiring/toolchains.h"

namespace breakwatch::wiring {

namespace fs = std::filesystem;

namespace {

fs::path ProgramFolder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace

std::string DataDir() {
  constexpr const char* kMark = "collectors/capture/structure_ignored.yaml";
  constexpr const char* kInstalled = "/usr/share/breakwatch";
  if (const char* set = std::getenv("BREAKWATCH_DATA_DIR"); set != nullptr && *set != '\0') return set;
  std::error_code ignored;
  const fs::path beside = ProgramFolder();
  for (const fs::path& directory :
       {beside.parent_path().parent_path(), beside.parent_path() / "share/breakwatch", fs::current_path(ignored)}) {
    if (fs::exists(directory / kMark, ignored)) return directory.string();
  }
  return kInstalled;
}

std::string RunnerProgram() {
  for (const fs::path& folder : {ProgramFolder(), fs::path(DefaultPython()).parent_path()}) {
    const fs::path program = folder / "breakwatch-runner";
    if (access(program.c_str(), X_OK) == 0) return program.string();
  }
  return {};
}

std::string InstalledRunner() {
  const fs::path program = ProgramFolder().parent_path() / "lib/breakwatch/breakwatch-runner";
  return access(program.c_str(), X_OK) == 0 ? program.string() : std::string();
}

std::string DataFile(const std::string& path) { return (fs::path(DataDir()) / path).string(); }

std::string ConfiguredFile(const std::string& path) {
  const bool bare = path.find('/') == std::string::npos;
  std::error_code ignored;
  if (bare || path.front() == '/') return path;
  return fs::exists(path, ignored) ? fs::absolute(path, ignored).string() : DataFile(path);
}

}  // namespace breakwatch::wiring
