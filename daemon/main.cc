// The program: names every concrete class once, and hands the commands their factories.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stop_token>
#include <thread>
#include <utility>

#include "breakwatch/capture/compose.h"
#include "breakwatch/capture/discover.h"
#include "breakwatch/capture/launcher.h"
#include "breakwatch/capture/zygote_runner.h"
#include "breakwatch/commands/app.h"
#include "breakwatch/core/text.h"
#include "breakwatch/exporters/console.h"
#include "breakwatch/exporters/event_file.h"
#include "breakwatch/exporters/loki.h"
#include "breakwatch/exporters/pushgateway.h"
#include "breakwatch/hub/hub_lister.h"
#include "breakwatch/hub_replay/record.h"
#include "breakwatch/hub_replay/replay_server.h"
#include "breakwatch/net/http.h"
#include "breakwatch/store/store.h"
#include "breakwatch/trace/read_traces.h"
#include "resources.h"
#include "toolchains.h"

namespace breakwatch {
namespace {

namespace fs = std::filesystem;
using commands::App;
using commands::Check;
using config::Settings;

const std::string kUserAgent = std::string("breakwatch/") + BREAKWATCH_VERSION;

// --- log

void SetUpLog(const config::LogSettings& log) {
  auto logger = spdlog::stderr_color_mt("breakwatch");
  if (log.format == "json") {
    logger->set_pattern(R"({"ts":"%Y-%m-%dT%H:%M:%S.%f%z","level":"%l","msg":%v})");
  } else {
    logger->set_pattern("%Y-%m-%d %H:%M:%S %^%l%$ %v");
  }
  logger->set_level(spdlog::level::from_str(log.level == "warn" ? "warning" : log.level));
  spdlog::set_default_logger(std::move(logger));
}

void Log(const App& app, Level level, const std::string& text) {
  static constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                          spdlog::level::warn, spdlog::level::err};
  static const bool set_up = (SetUpLog(app.settings().log), true);
  (void)set_up;
  // The library does not escape what a pattern inserts.
  spdlog::log(kLevels[static_cast<std::size_t>(level)], "{}",
              app.settings().log.format == "json" ? JsonText(text) : ToUtf8(text));
}

// --- store

Result<std::unique_ptr<store::Store>> OpenStore(const App& app, const Settings& settings, bool read_only) {
  if (!read_only) {
    std::error_code error;
    fs::create_directories(settings.state_dir, error);
    if (error) {
      return Error{ErrorCode::kStore, "cannot make " + settings.state_dir + ": " + error.message() +
                                          "; set state_dir to a directory of yours"};
    }
  }
  return store::Store::Open({config::StoreUrl(settings), read_only}, *app.clock);
}

// --- models

hub::HubOptions HubOptionsOf(const Settings& settings) {
  auto options = hub::HubOptionsFromEnvironment([](const char* name) { return std::getenv(name); }, kUserAgent);
  if (!settings.hub.endpoint.empty()) options.endpoint = settings.hub.endpoint;
  if (!settings.hub.cache_dir.empty()) options.cache_dir = settings.hub.cache_dir;
  options.offline = options.offline || settings.hub.offline;
  options.concurrency = settings.hub.concurrency;
  options.tries = settings.hub.retries + 1;
  // A default must not hide what HF_HUB_DOWNLOAD_TIMEOUT asks for.
  if (settings.hub.timeout != config::HubSettings{}.timeout) options.timeout = settings.hub.timeout;
  options.max_params = settings.hub.list.max_params;
  return options;
}

Result<std::unique_ptr<ModelLister>> MakeLister(const App& app, const Settings& settings) {
  const auto options = HubOptionsOf(settings);
  const std::string& source = settings.hub.source;
  if (source == "snapshot") return hub::MakeSnapshotLister(Resource(settings.hub.snapshot_dir), options);
  if (source == "directory") return hub::MakeDirectoryLister(settings.hub.path, options);
  auto live = hub::MakeHubLister(options, *app.clock);
  if (source == "file") return hub::MakeFileLister(settings.hub.path, std::move(live));
  return live;
}

// Absolute folders of PYTHONPATH: our worker's own replaces it, and factories are sought in them.
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

Result<std::unique_ptr<ModelLister>> MakeListerWithSelectors(const App& app, const Settings& settings) {
  auto others = MakeLister(app, settings);
  if (!others) return others;
  std::error_code ignored;
  hub::SelectorOptions options{settings.capture.allow_factories, fs::current_path(ignored).string(), PythonPath()};
  return hub::MakeSelectorLister(std::move(options), std::move(*others));
}

// --- capture

bool IsAuto(const std::vector<std::string>& launcher) { return launcher.size() == 1 && launcher[0] == "auto"; }

std::string ScratchOf(const Settings& settings) { return fs::absolute(settings.state_dir).string() + "/scratch"; }

Result<void> ComposeToolchain(const std::string& torch_python, const std::string& rest_python,
                              const std::string& target) {
  return capture::ComposeToolchain(EnvironmentOf(Resource(torch_python)), EnvironmentOf(Resource(rest_python)), target);
}

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
  if (described) return described;
  Error error = described.error();
  error.code = ErrorCode::kInternal;  // exit 1: 69 is the Hub's
  return error;
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

// --- exporters

// The journal of gateway groups, on a store session that the delivery thread opens when it first needs it.
class StoredJournal final : public exporters::GroupJournal {
 public:
  StoredJournal(const App& app, std::string gateway) : app_(app), gateway_(std::move(gateway)) {}
  Result<std::vector<std::string>> Load() override {
    if (auto opened = Open(); !opened) return opened.error();
    return store_->OwnedGroups(gateway_);
  }
  Result<void> Save(const std::vector<std::string>& groups) override {
    if (auto opened = Open(); !opened) return opened.error();
    return store_->SetOwnedGroups(gateway_, groups);
  }

 private:
  Result<void> Open() {
    if (store_) return {};
    auto opened = app_.open_store(app_.settings(), /*read_only=*/false);
    if (!opened) return opened.error();
    store_ = std::move(*opened);
    return {};
  }

  const App& app_;
  const std::string gateway_;
  std::unique_ptr<store::Store> store_;
};

// How a server is reached: what the settings of every network exporter have in common.
template <class ExporterSettings, class Options>
Result<void> SetReach(const ExporterSettings& s, Options& options) {
  const auto password = config::ReadSecret(s.password, s.password_file);
  if (!password) return password.error();
  options.url = s.url;
  options.gzip = s.gzip;
  options.user = s.username;
  options.password = *password;
  options.tls = {s.tls.ca_file, s.tls.cert_file, s.tls.key_file, s.tls.insecure_skip_verify};
  options.connect_timeout = s.connect_timeout;
  options.timeout = s.timeout;
  return {};
}

Result<std::unique_ptr<MetricExporter>> MakePushgateway(const App& app, const config::PushgatewaySettings& s) {
  exporters::PushgatewayOptions options;
  if (auto reached = SetReach(s, options); !reached) return reached.error();
  options.job = s.job;
  options.pool = s.pool;
  options.shards = s.shards;
  return exporters::MakePushgateway(options, std::make_unique<StoredJournal>(app, s.url),
                                    net::MakeHttpSender(kUserAgent, app.give_up.get_token()));
}

Result<std::unique_ptr<EventExporter>> MakeLoki(const App& app, const config::LokiSettings& s) {
  exporters::LokiOptions options;
  if (auto reached = SetReach(s, options); !reached) return reached.error();
  options.tenant = s.tenant;
  options.environment = s.environment;
  options.pool = s.pool;
  return exporters::MakeLoki(options, net::MakeHttpSender(kUserAgent, app.give_up.get_token()));
}

Result<engine::DeliveryThread::Exporters> MakeExporters(const App& app, const Settings& settings) {
  engine::DeliveryThread::Exporters out;
  const auto& s = settings.exporters;
  if (!s.pushgateway.url.empty()) {
    auto pushgateway = MakePushgateway(app, s.pushgateway);
    if (!pushgateway) return pushgateway.error();
    out.metrics.push_back({std::move(*pushgateway), s.pushgateway.required});
  }
  if (!s.loki.url.empty()) {
    auto loki = MakeLoki(app, s.loki);
    if (!loki) return loki.error();
    out.events.push_back({std::move(*loki), s.loki.required});
  }
  if (s.file.enabled) {
    exporters::EventFileOptions file;
    file.path = config::EventFilePath(settings);
    file.max_bytes = s.file.max_bytes;
    file.keep = s.file.keep;
    out.events.push_back({exporters::MakeEventFile(file), /*required=*/false});
  }
  if (s.console.metrics) out.metrics.push_back({exporters::MakeConsoleMetrics({}, std::cerr), false});
  if (s.console.enabled) out.events.push_back({exporters::MakeConsoleEvents({}, std::cerr), false});
  return out;
}

// --- traces of jobs

Result<commands::ReadTrace> ReadTrace(const std::string& path, const commands::TraceProgress& progress) {
  auto import = trace::ReadTraces(path, {.progress = progress});
  if (!import) return import.error();
  return commands::ReadTrace{
      std::move(import->capture), std::move(import->digest), import->bytes, import->files, import->records,
      std::move(import->warnings)};
}

// --- a Hub on disk

int RecordHub(App& app, const commands::HubRecordOptions& o) {
  const Settings& settings = app.settings();
  const auto hub = HubOptionsOf(settings);
  ListRequest request = settings.hub.list;
  request.ids = o.models;
  hub_replay::RecordOptions options = hub_replay::RecordOptionsOf(request);
  options.endpoint = hub.endpoint;
  options.token = hub.token;
  options.note = o.note;
  const auto pool = net::MakeHttpPool(kUserAgent, static_cast<std::size_t>(settings.hub.concurrency));
  const auto progress = [&](std::size_t done, std::size_t total) {
    std::fprintf(app.err, "\r%zu/%zu", done, total);
    if (done == total) std::fputc('\n', app.err);
  };
  const auto summary = hub_replay::Record(options, *pool, o.dir, {}, progress, *app.clock);
  if (!summary) return commands::Fail(app, summary.error());
  std::fprintf(app.out, "%zu models, %zu files in %s\n", summary->models, summary->files, o.dir.c_str());
  for (const std::string& left : summary->left_out) std::fprintf(app.err, "left out: %s\n", left.c_str());
  return commands::kExitOk;
}

int ServeHub(App& app, const commands::HubServeOptions& o) {
  hub_replay::ReplayOptions options;
  options.dir = o.dir;
  options.host = o.host;
  options.port = o.port;
  if (o.link_to_self) options.link_endpoint = "self";
  (void)app;
  return hub_replay::ServeMain(options);
}

}  // namespace
}  // namespace breakwatch

int main(int argc, char** argv) {
  using namespace breakwatch;  // NOLINT: the whole program
  App app;
  app.version = BREAKWATCH_VERSION;
  app.clock = &RealClock();
  app.log = [&](Level level, const std::string& text) { Log(app, level, text); };
  app.open_store = [&](const Settings& s, bool read_only) { return OpenStore(app, s, read_only); };
  app.make_lister = [&](const Settings& s) { return MakeListerWithSelectors(app, s); };
  app.read_trace = ReadTrace;
  app.make_runner = [&](const Settings& s) -> Result<std::unique_ptr<CaptureRunner>> {
    auto options = ZygotesOf(app, s);
    options.launcher = LauncherOf(s, app.own_folders).argv;
    return std::unique_ptr<CaptureRunner>(capture::MakeZygoteRunner(std::move(options), *app.clock));
  };
  app.describe_toolchain = [&](const Settings& s) { return DescribeToolchain(app, s); };
  app.compose_toolchain = ComposeToolchain;
  app.with_toolchain = [](const Settings& s, const std::string& name) { return WithToolchain(s, name); };
  app.ignored_config_keys = [](const Settings&) { return IgnoredConfigKeys(); };
  app.make_exporters = [&](const Settings& s) { return MakeExporters(app, s); };
  app.make_sender = [] { return net::MakeHttpSender(kUserAgent); };
  app.hub_endpoint = [](const Settings& s) {
    const auto hub = HubOptionsOf(s);
    return hub.offline ? std::string() : hub.endpoint;
  };
  app.check_toolchain = [&](const Settings& s) { return CheckToolchain(app, s); };
  app.discover = [&](const Settings& s, const commands::DiscoverRequest& r) -> Result<std::string> {
    auto options = ZygotesOf(app, s);
    if (!s.capture.allow_factories) AllowOwnCode(options);  // to discover is to run it
    options.launcher = LauncherOf(s, app.own_folders).argv;
    auto found = capture::DiscoverModules(
        options, {fs::absolute(r.script).string(), r.arguments, r.max_depth, std::chrono::seconds(r.timeout_s)});
    if (found) return found;
    Error error = found.error();
    error.code = ErrorCode::kInternal;  // exit 1: 69 is the Hub's
    return error;
  };
  app.hub_record = RecordHub;
  app.hub_serve = ServeHub;
  return commands::Main(app, argc, argv);
}
