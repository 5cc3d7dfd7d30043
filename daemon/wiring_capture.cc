#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "breakwatch/capture/compose.h"
#include "breakwatch/capture/discover.h"
#include "breakwatch/capture/launcher.h"
#include "breakwatch/capture/zygote_runner.h"
#include "resources.h"
#include "toolchains.h"
#include "wiring.h"

namespace breakwatch::wiring {
namespace {

namespace fs = std::filesystem;
using commands::Check;

bool IsAuto(const std::vector<std::string>& launcher) { return launcher.size() == 1 && launcher[0] == "auto"; }

std::string ScratchOf(const Settings& settings) { return fs::absolute(settings.state_dir).string() + "/scratch"; }

capture::LauncherChoice LauncherOf(const Settings& configured, const std::vector<std::string>& own_folders = {}) {
  const Settings settings = WithPrimary(configured);
  if (!IsAuto(settings.capture.launcher)) return {settings.capture.launcher, "capture.launcher"};
  const std::string python = Resource(settings.capture.worker.front());
  std::error_code ignored;
  fs::create_directories(ScratchOf(settings), ignored);
  std::vector<std::string> visible = capture::ComposedOf(EnvironmentOf(python));
  visible.insert(visible.end(), {EnvironmentOf(python), Root()});
  visible.insert(visible.end(), own_folders.begin(), own_folders.end());
  if (settings.capture.allow_factories) {
    for (std::string& folder : PythonPath()) visible.push_back(std::move(folder));
  }
  return capture::DefaultLauncher(ScratchOf(settings), visible);
}

// The worker's leave, and the folders that the user's code is imported from.
void AllowOwnCode(capture::ZygoteOptions& options) {
  options.environment["BREAKWATCH_ALLOW_FACTORIES"] = "1";
  for (const std::string& folder : PythonPath()) options.environment["PYTHONPATH"] += ":" + folder;
}

// Without a launcher, which takes a probe to find.
capture::ZygoteOptions ZygotesOf(const App& app, const Settings& configured) {
  const Settings settings = WithPrimary(configured);
  capture::ZygoteOptions options;
  options.worker = settings.capture.worker;
  options.worker.front() = Resource(options.worker.front());
  options.environment["PYTHONPATH"] = Resource("collectors/capture/worker");
  if (settings.capture.allow_factories) AllowOwnCode(options);
  options.scratch = ScratchOf(settings);
  options.toolchain = settings.capture.toolchain;
  const unsigned cores = std::thread::hardware_concurrency();
  options.zygotes =
      settings.capture.zygotes > 0 ? static_cast<std::size_t>(settings.capture.zygotes) : std::max(1u, cores);
  options.silence = settings.capture.silence;
  options.log = [&app](std::string_view text) { app.log(Level::kWarn, std::string(text)); };
  return options;
}

constexpr std::chrono::seconds kRunnerTimeout{30};  // libtorch from a cold disk
constexpr std::size_t kRunnerBytes = 4096;

std::string RunnerVersion() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "breakwatch-runner";
  if (access(program.c_str(), X_OK) != 0) return {};
  const auto output = capture::RunProgram({program.string(), "--version"}, kRunnerTimeout, kRunnerBytes);
  std::string text = output ? *output : std::string();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ',');  // a line each: torch, ABI, processor, whether it computes
  return text;
}

Check CheckWorker(const App& app, const Settings& settings, const std::string& name) {
  const bool primary = name == settings.capture.toolchain;
  const auto with = WithToolchain(settings, name);
  const auto toolchain = with ? DescribeToolchain(app, *with) : Result<Toolchain>(with.error());
  if (toolchain) return {"worker", Check::State::kOk, toolchain->Key() + ", worker " + toolchain->worker, ""};
  return {"worker", Check::State::kFailed, toolchain.error().message,
          primary ? "run `make venv`, or correct capture.worker"
                  : "make it (`make toolchain TORCH=... TRANSFORMERS=... TOOLCHAIN=" + name +
                        "`), or correct capture.toolchains"};
}

// Exit 1: 69 is the Hub's.
Error OfTheWorker(Error error) {
  error.code = ErrorCode::kInternal;
  return error;
}

}  // namespace

std::vector<std::string> PythonPath() {
  const char* text = std::getenv("PYTHONPATH");
  std::vector<std::string> folders;
  std::string rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    if (colon != 0) folders.push_back(fs::absolute(rest.substr(0, colon)).string());
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return folders;
}

Result<std::unique_ptr<CaptureRunner>> MakeRunner(const App& app, const Settings& settings) {
  auto options = ZygotesOf(app, settings);
  options.launcher = LauncherOf(settings, app.own_folders).argv;
  return std::unique_ptr<CaptureRunner>(capture::MakeZygoteRunner(std::move(options), *app.clock));
}

Result<void> ComposeToolchain(const std::string& torch_python, const std::string& rest_python,
                              const std::string& target) {
  return capture::ComposeToolchain(EnvironmentOf(Resource(torch_python)), EnvironmentOf(Resource(rest_python)), target);
}

Result<Toolchain> DescribeToolchain(const App& app, const Settings& settings) {
  auto options = ZygotesOf(app, settings);
  const std::string& program = options.worker.front();
  if (program.find('/') != std::string::npos && access(program.c_str(), X_OK) != 0) {
    return Error{ErrorCode::kInternal,
                 "no worker at " + program + "; `make venv` makes the default toolchain, or set capture.worker"};
  }
  // Nothing is imported, so it needs no sandbox; but another host's launcher has another host's toolchain.
  if (!IsAuto(settings.capture.launcher)) options.launcher = settings.capture.launcher;
  auto described = capture::DescribeToolchain(options, settings.capture.toolchain);
  if (!described) return OfTheWorker(described.error());
  return described;
}

Result<std::set<std::string>> IgnoredConfigKeys() {
  const std::string path = Resource("collectors/capture/structure_ignored.yaml");
  try {
    std::set<std::string> keys;
    for (const auto& entry : YAML::LoadFile(path)) keys.insert(entry.first.as<std::string>());
    return keys;
  } catch (const YAML::Exception& error) {
    return Error{ErrorCode::kConfig, path + ": " + error.what()};
  }
}

Result<std::string> Discover(const App& app, const Settings& settings, const commands::DiscoverRequest& request) {
  auto options = ZygotesOf(app, settings);
  if (!settings.capture.allow_factories) AllowOwnCode(options);  // to discover is to run it
  options.launcher = LauncherOf(settings, app.own_folders).argv;
  auto found = capture::DiscoverModules(options, {fs::absolute(request.script).string(), request.arguments,
                                                  request.max_depth, std::chrono::seconds(request.timeout_s)});
  if (!found) return OfTheWorker(found.error());
  return found;
}

std::vector<Check> CheckToolchain(const App& app, const Settings& settings) {
  std::vector<Check> checks;
  for (const std::string& name : ToolchainNames(settings.capture)) checks.push_back(CheckWorker(app, settings, name));
  const std::string runner = RunnerVersion();
  if (runner.empty()) {
    checks.push_back({"torch", Check::State::kWarning, "breakwatch-runner is not built or does not load libtorch",
                      "run `make venv`, then `make build`"});
  } else {
    checks.push_back({"torch", Check::State::kOk, runner, ""});
  }
  const auto launcher = LauncherOf(settings);
  checks.push_back(
      {"sandbox", launcher.argv.empty() ? Check::State::kWarning : Check::State::kOk, launcher.why,
       launcher.argv.empty()
           ? "install bubblewrap and allow user namespaces; without it a worker sees the network and your files"
           : ""});
  return checks;
}

}  // namespace breakwatch::wiring
