#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "breakwatch/capture/by_hand.h"
#include "breakwatch/capture/compose.h"
#include "breakwatch/capture/confine.h"
#include "breakwatch/capture/discover.h"
#include "breakwatch/capture/launcher.h"
#include "breakwatch/capture/zygote_runner.h"
#include "breakwatch/wiring/toolchains.h"
#include "breakwatch/wiring/wiring.h"
#include "data_dir.h"

namespace breakwatch::wiring {
namespace {

namespace fs = std::filesystem;
using commands::Check;

bool IsAuto(const std::vector<std::string>& launcher) { return launcher.size() == 1 && launcher[0] == "auto"; }

constexpr const char* kWorkerPackage = "collectors/capture/worker";
constexpr const char* kIgnoredKeys = "collectors/capture/structure_ignored.yaml";  // a worker's version digests it

// What breakwatch-runner needs besides the system's libraries: itself, and the libtorch of the default environment,
// which it was linked with.
std::vector<std::string> RunnerFiles() {
  const std::string program = RunnerProgram();
  if (program.empty()) return {};
  return {program, EnvironmentOf(DefaultPython())};
}

std::string ScratchOf(const Settings& settings) { return fs::absolute(settings.state_dir).string() + "/scratch"; }

// Where own code is read from: its scripts' folders, where it is imported from, and models that it loads by name.
std::vector<std::string> OwnFolders(const Settings& settings, const std::vector<std::string>& of_scripts) {
  std::error_code ignored;
  std::vector<std::string> folders = of_scripts;
  for (std::string& folder : PythonPath()) folders.push_back(std::move(folder));
  folders.push_back(fs::current_path(ignored).string());
  folders.push_back(HubCacheDir(settings));
  return folders;
}

constexpr std::string_view kSqlite = "sqlite:";

// Paths that no worker may read: those that give control over this daemon, and its results so far.
std::vector<std::string> Secrets(const App& app, const Settings& settings) {
  std::vector<std::string> paths = {settings.state_dir, settings.web.token_file};
  for (const auto* exporter :
       {&settings.exporters.pushgateway.password_file, &settings.exporters.loki.password_file,
        &settings.exporters.pushgateway.tls.key_file, &settings.exporters.loki.tls.key_file,
        &settings.exporters.remote_write.password_file, &settings.exporters.remote_write.bearer_token_file,
        &settings.exporters.remote_write.tls.key_file, &settings.exporters.otlp.password_file,
        &settings.exporters.otlp.headers_file, &settings.exporters.otlp.metrics_headers_file,
        &settings.exporters.otlp.logs_headers_file, &settings.exporters.otlp.tls.key_file,
        &settings.exporters.otlp.of_metrics.key_file, &settings.exporters.otlp.of_logs.key_file,
        &settings.artifact.registry.password_file, &settings.artifact.registry.token_file,
        &settings.artifact.registry.tls.key_file})
    paths.push_back(*exporter);
  paths.insert(paths.end(), app.loaded.files.begin(), app.loaded.files.end());
  if (const std::string url = config::StoreUrl(settings); url.starts_with(kSqlite)) {
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) paths.push_back(url.substr(kSqlite.size()) + suffix);
  }
  return paths;
}

// A folder of weights, and the files that its links name: the Hub's cache has links.
void AddWeights(const std::string& folder, std::vector<std::string>& readable) {
  if (folder.empty()) return;
  readable.push_back(folder);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.is_symlink(ignored)) readable.push_back(fs::canonical(entry.path(), ignored).string());
  }
}

// `own_code`: the user's own code is captured besides the library's models. `folders`: of a build.
capture::LauncherChoice LauncherOf(const App& app, const Settings& configured, bool own_code,
                                   const engine::BuildFolders& folders = {}) {
  const Settings settings = WithPrimary(configured);
  const auto& launcher = settings.capture.launcher;
  if (launcher.empty()) return {{}, capture::kNoSandbox, "no sandbox: capture.launcher is []", ""};
  if (!IsAuto(launcher)) return {launcher, capture::kOwnLauncher, "capture.launcher", ""};
  if (settings.capture.sandbox == "off") return {{}, capture::kNoSandbox, "no sandbox: capture.sandbox is off", ""};
  capture::SandboxOptions options;
  options.worker = settings.capture.worker;
  options.worker.front() = ConfiguredFile(options.worker.front());
  options.readable = capture::ComposedOf(EnvironmentOf(options.worker.front()));
  options.readable.insert(options.readable.end(), {DataFile(kWorkerPackage), DataFile(kIgnoredKeys)});
  for (std::string& file : RunnerFiles()) options.readable.push_back(std::move(file));
  if (own_code) {
    for (std::string& folder : OwnFolders(settings, app.own_folders)) options.readable.push_back(std::move(folder));
  }
  AddWeights(folders.readable, options.readable);
  if (!folders.writable.empty()) options.writable.push_back(folders.writable);
  options.hidden = Secrets(app, settings);
  options.scratch_bytes = settings.capture.scratch_bytes;
  std::error_code ignored;
  options.confine = {fs::read_symlink("/proc/self/exe", ignored).string(), std::string(capture::kConfineCommand)};
  return capture::DefaultLauncher(options);
}

// Whether what is captured may go without a sandbox, by capture.sandbox.
bool NeedsSandbox(const Settings& settings, bool own_code) {
  return settings.capture.sandbox == "require" || (settings.capture.sandbox == "prefer" && own_code);
}

// Puts the choice into the options: what workers start through, and what is refused or warned of without a sandbox.
void UseLauncher(const capture::LauncherChoice& choice, const Settings& settings, capture::ZygoteOptions& options) {
  options.launcher = choice.argv;
  options.sandbox = choice.used;
  if (!choice.program.empty() && !choice.argv.empty()) options.worker.front() = choice.program;
  // A launcher of the user's own (ssh, docker, srun) finds its host and its keys by variables of theirs.
  if (choice.used == capture::kOwnLauncher) options.keep = {"*"};
  if (choice.used != capture::kNoSandbox || settings.capture.sandbox == "off") return;
  const std::string refusal = choice.why + "; capture.sandbox=off captures without one";
  if (NeedsSandbox(settings, /*own_code=*/true)) options.refuse_own = "your own code needs a sandbox: " + refusal;
  if (NeedsSandbox(settings, /*own_code=*/false)) options.refuse_library = "capture.sandbox is require: " + refusal;
  if (settings.capture.launcher.empty()) return;  // requested by the user
  options.sandbox_warning = "models are captured without a sandbox: " + choice.why;
}

// The worker's leave, and the folders that the user's code is imported from.
void AllowOwnCode(const Settings& settings, capture::ZygoteOptions& options) {
  options.environment["BREAKWATCH_ALLOW_FACTORIES"] = "1";
  options.environment["HF_HUB_CACHE"] = HubCacheDir(settings);
  for (const std::string& folder : PythonPath()) options.environment["PYTHONPATH"] += ":" + folder;
}

// Without a launcher, which takes a probe to find.
capture::ZygoteOptions ZygotesOf(const App& app, const Settings& configured) {
  const Settings settings = WithPrimary(configured);
  capture::ZygoteOptions options;
  options.worker = settings.capture.worker;
  options.worker.front() = ConfiguredFile(options.worker.front());
  options.environment["PYTHONPATH"] = DataFile(kWorkerPackage);
  options.environment["BREAKWATCH_SCRATCH_BYTES"] = std::to_string(settings.capture.scratch_bytes);
  if (const std::string runner = RunnerProgram(); !runner.empty()) options.environment["BREAKWATCH_RUNNER"] = runner;
  options.pass = settings.capture.environment;
  if (settings.capture.allow_factories) AllowOwnCode(settings, options);
  options.scratch = ScratchOf(settings);
  options.toolchain = settings.capture.toolchain;
  const unsigned cores = std::thread::hardware_concurrency();
  options.zygotes =
      settings.capture.zygotes > 0 ? static_cast<std::size_t>(settings.capture.zygotes) : std::max(1u, cores);
  options.silence = settings.capture.silence;
  options.lock_file = settings.measure.lock_file;
  options.log = [&app](std::string_view text) { app.log(Level::kWarn, std::string(text)); };
  return options;
}

constexpr std::chrono::seconds kRunnerTimeout{30};  // libtorch from a cold disk
constexpr std::size_t kRunnerBytes = 4096;

std::string RunnerVersion() {
  const std::string program = RunnerProgram();
  if (program.empty()) return {};
  const auto output = capture::RunProgram({program, "--version"}, kRunnerTimeout, kRunnerBytes);
  std::string text = output ? *output : std::string();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ',');  // a line each: torch, ABI, processor, whether it computes
  return text;
}

Check CheckWorker(const App& app, const Settings& settings, const std::string& name) {
  const bool primary = name == settings.capture.toolchain;
  const auto with = WithToolchain(settings, {name});
  const auto toolchain = with ? DescribeToolchain(app, *with) : Result<Toolchain>(with.error());
  if (toolchain) return {"worker", Check::State::kOk, toolchain->Key() + ", worker " + toolchain->worker, ""};
  return {"worker", Check::State::kFailed, toolchain.error().message,
          primary ? "run `breakwatch setup`, or check capture.worker"
                  : "run `breakwatch setup --name " + name +
                        " --torch VERSION --transformers VERSION`, or check capture.toolchains"};
}

Check CheckSandbox(const App& app, const Settings& settings) {
  const auto choice = LauncherOf(app, settings, settings.capture.allow_factories);
  if (choice.used != capture::kNoSandbox) return {"sandbox", Check::State::kOk, choice.used + ": " + choice.why, ""};
  const bool is_off = settings.capture.sandbox == "off" || settings.capture.launcher.empty();
  return {"sandbox", settings.capture.sandbox == "require" ? Check::State::kFailed : Check::State::kWarning, choice.why,
          is_off
              ? "workers can access the network and your files; remove the setting to use a sandbox"
              : "install bubblewrap and allow user namespaces; without it python: and script: models are not captured"};
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
  const bool own_code = settings.capture.allow_factories;
  UseLauncher(LauncherOf(app, settings, own_code), settings, options);
  return capture::MakeZygoteRunner(std::move(options), *app.clock);
}

Result<std::unique_ptr<CaptureRunner>> MakeBuilder(const App& app, const Settings& settings,
                                                   const engine::BuildFolders& folders) {
  auto options = ZygotesOf(app, settings);
  options.zygotes = 1;
  UseLauncher(LauncherOf(app, settings, settings.capture.allow_factories, folders), settings, options);
  return capture::MakeZygoteRunner(std::move(options), *app.clock);
}

Result<void> ComposeToolchain(const std::string& torch_python, const std::string& rest_python,
                              const std::string& target) {
  return capture::ComposeToolchain(EnvironmentOf(ConfiguredFile(torch_python)),
                                   EnvironmentOf(ConfiguredFile(rest_python)), target);
}

Result<Toolchain> DescribeToolchain(const App& app, const Settings& settings) {
  auto options = ZygotesOf(app, settings);
  const std::string& program = options.worker.front();
  if (program.find('/') != std::string::npos && access(program.c_str(), X_OK) != 0) {
    return Error{ErrorCode::kInternal,
                 "no worker program at " + program + "; run `breakwatch setup`, or set capture.worker"};
  }
  // Nothing is imported, so it needs no sandbox; but another host's launcher has another host's toolchain.
  if (!IsAuto(settings.capture.launcher)) options.launcher = settings.capture.launcher, options.keep = {"*"};
  auto described = capture::DescribeToolchain(options, settings.capture.toolchain);
  if (!described) return OfTheWorker(described.error());
  return described;
}

Result<engine::IgnoredKeys> IgnoredConfigKeys() {
  const std::string path = DataFile(kIgnoredKeys);
  try {
    engine::IgnoredKeys keys;
    for (const auto& entry : YAML::LoadFile(path)) {
      // The reason, after the name of the place to which it applies, if any.
      const bool outside_training = entry.second.IsMap() && entry.second["outside_training"];
      (outside_training ? keys.outside_training : keys.always).insert(entry.first.as<std::string>());
    }
    return keys;
  } catch (const YAML::Exception& error) {
    return Error{ErrorCode::kConfig, path + ": " + error.what()};
  }
}

Result<std::string> Discover(const App& app, const Settings& settings, const commands::DiscoverRequest& request) {
  auto options = ZygotesOf(app, settings);
  if (!settings.capture.allow_factories) AllowOwnCode(settings, options);  // to discover is to run it
  UseLauncher(LauncherOf(app, settings, /*own_code=*/true), settings, options);
  if (!options.refuse_own.empty()) return Error{ErrorCode::kInternal, options.refuse_own};
  auto found = capture::DiscoverModules(options, {fs::absolute(request.script).string(), request.arguments,
                                                  request.max_depth, std::chrono::seconds(request.timeout_s)});
  if (!found) return OfTheWorker(found.error());
  return found;
}

Result<std::string> KeepCapture(const App& app, const Settings& settings, const commands::KeepRequest& request) {
  auto options = ZygotesOf(app, settings);
  const auto choice =
      LauncherOf(app, settings, settings.capture.allow_factories, {.writable = request.folder, .readable = {}});
  if (choice.used == capture::kOwnLauncher) {
    return Error{
        ErrorCode::kUsage,
        "capture.launcher starts workers elsewhere, and only a worker on this machine can keep its files here; "
        "set capture.launcher=auto for this command"};
  }
  UseLauncher(choice, settings, options);
  const std::string& refused = request.job.is_source ? options.refuse_own : options.refuse_library;
  if (!refused.empty()) return Error{ErrorCode::kInternal, refused};
  auto found = capture::CaptureByHand(options, request.job, request.folder, request.trace);
  if (!found && found.error().code == ErrorCode::kUnavailable) return OfTheWorker(found.error());
  return found;
}

std::vector<Check> CheckToolchain(const App& app, const Settings& settings) {
  std::vector<Check> checks;
  for (const std::string& name : ToolchainNames(settings.capture)) checks.push_back(CheckWorker(app, settings, name));
  const std::string runner = RunnerVersion();
  if (runner.empty()) {
    checks.push_back({"torch", Check::State::kWarning, "there is no breakwatch-runner that loads libtorch",
                      "run `breakwatch setup`; in a source tree, then `make build`"});
  } else {
    checks.push_back({"torch", Check::State::kOk, runner, ""});
  }
  checks.push_back(CheckSandbox(app, settings));
  return checks;
}

}  // namespace breakwatch::wiring
