#include "breakwatch/wiring/toolchains.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "data_dir.h"

namespace breakwatch::wiring {

using config::Settings;

namespace {

bool IsProgram(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

// The interpreter of a toolchain: as given, else as configured, else where `make toolchain` puts it; empty: none.
std::string PythonOf(const Settings& settings, const ToolchainRef& toolchain) {
  // A name is no path: one with a slash would lead out of the folder.
  if (toolchain.name.find_first_of("/=") != std::string::npos) return {};
  if (!toolchain.python.empty()) return toolchain.python;
  for (const ToolchainRef& configured : settings.capture.toolchains) {
    if (configured.name == toolchain.name) return configured.python;
  }
  std::string beside = DataFile(".venv-" + toolchain.name + "/bin/python");
  return IsProgram(beside) ? beside : std::string();
}

std::vector<std::string> WorkerOf(const std::string& python) { return {python, "-m", "breakwatch_worker"}; }

}  // namespace

std::string EnvironmentOf(const std::string& python) {
  return std::filesystem::path(python).parent_path().parent_path().string();
}

Settings WithPrimary(Settings settings) {
  auto& capture = settings.capture;
  if (!capture.worker.empty()) return settings;
  const std::string python = PythonOf(settings, {capture.toolchain});
  capture.worker = WorkerOf(python.empty() ? DataFile(kDefaultPython) : python);
  return settings;
}

Result<Settings> WithToolchain(Settings settings, const ToolchainRef& toolchain) {
  const std::string& name = toolchain.name;
  const std::string python = PythonOf(settings, toolchain);
  if (python.empty() && name != settings.capture.toolchain) {
    return Error{ErrorCode::kUsage, "unknown toolchain " + name + ": neither .venv-" + name +
                                        "/bin/python nor an entry of capture.toolchains exists"};
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
