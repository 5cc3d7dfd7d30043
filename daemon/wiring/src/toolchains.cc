#include "breakwatch/wiring/toolchains.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "data_dir.h"

namespace breakwatch::wiring {

using config::Settings;

namespace {

bool IsProgram(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

constexpr const char* kDefaultName = "default";

// Beside the program's data.
std::string OfSourceTree(const std::string& name) { return DataFile(name == kDefaultName ? ".venv" : ".venv-" + name); }

// Empty if the user has no home.
std::string OfUser(const std::string& name) {
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data != nullptr && *data == '/') return std::string(data) + "/breakwatch/toolchains/" + name;
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/share/breakwatch/toolchains/" + name;
  return {};
}

std::string OfSystem(const std::string& name) { return std::string(kSystemToolchains) + "/" + name; }

// The interpreter of a toolchain that was made; empty: none.
std::string MadePython(const std::string& name) {
  for (const std::string& folder : {OfSourceTree(name), OfUser(name), OfSystem(name)}) {
    std::string python = folder + "/bin/python";
    if (!folder.empty() && IsProgram(python)) return python;
  }
  return {};
}

// The interpreter of a toolchain: as given, else as configured, else as `breakwatch setup` made it; empty: none.
std::string PythonOf(const Settings& settings, const ToolchainRef& toolchain) {
  // A name is no path: one with a slash would lead out of the folder.
  if (toolchain.name.find_first_of("/=") != std::string::npos) return {};
  if (!toolchain.python.empty()) return toolchain.python;
  for (const ToolchainRef& configured : settings.capture.toolchains) {
    if (configured.name == toolchain.name) return configured.python;
  }
  return MadePython(toolchain.name);
}

std::vector<std::string> WorkerOf(const std::string& python) { return {python, "-m", "breakwatch_worker"}; }

}  // namespace

std::string NewToolchain(const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::exists(DataFile("CMakeLists.txt"), ignored)) return OfSourceTree(name);
  const std::string of_user = OfUser(name);
  return geteuid() == 0 || of_user.empty() ? OfSystem(name) : of_user;
}

std::string DefaultPython() {
  std::string python = MadePython(kDefaultName);
  return python.empty() ? NewToolchain(kDefaultName) + "/bin/python" : python;
}

std::string EnvironmentOf(const std::string& python) {
  return std::filesystem::path(python).parent_path().parent_path().string();
}

Settings WithPrimary(Settings settings) {
  auto& capture = settings.capture;
  if (!capture.worker.empty()) return settings;
  const std::string python = PythonOf(settings, {capture.toolchain});
  capture.worker = WorkerOf(python.empty() ? DefaultPython() : python);
  return settings;
}

Result<Settings> WithToolchain(Settings settings, const ToolchainRef& toolchain) {
  const std::string& name = toolchain.name;
  const std::string python = PythonOf(settings, toolchain);
  if (python.empty() && name != settings.capture.toolchain) {
    return Error{ErrorCode::kUsage, "unknown toolchain " + name + ": neither `breakwatch setup --name " + name +
                                        "` nor an entry of capture.toolchains made it"};
  }
  const bool is_primary = name == settings.capture.toolchain;
  auto& worker = settings.capture.worker;
  if (worker.empty() && !python.empty()) worker = WorkerOf(python);
  if (!is_primary) worker.front() = python;
  settings.capture.toolchain = name;
  return WithPrimary(std::move(settings));
}

std::vector<std::string> ToolchainNames(const config::CaptureSettings& capture) {
  std::vector<std::string> names{capture.toolchain};
  for (const ToolchainRef& configured : capture.toolchains) names.push_back(configured.name);
  names.insert(names.end(), capture.extra_toolchains.begin(), capture.extra_toolchains.end());
  std::vector<std::string> distinct;
  for (std::string& name : names) {
    if (std::find(distinct.begin(), distinct.end(), name) == distinct.end()) distinct.push_back(std::move(name));
  }
  return distinct;
}

}  // namespace breakwatch::wiring
