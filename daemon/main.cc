// The program: hands the commands their factories. With the wiring beside it, it alone names concrete classes.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "breakwatch/capture/confine.h"
#include "breakwatch/commands/app.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/printable.h"
#include "breakwatch/net/http.h"
#include "breakwatch/store/store.h"
#include "breakwatch/trace/read_traces.h"
#include "breakwatch/wiring/toolchains.h"
#include "breakwatch/wiring/wiring.h"

namespace breakwatch {
namespace {

namespace fs = std::filesystem;
using commands::App;
using config::Settings;

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
  // The library does not escape what a pattern inserts, and a text of two lines could pass for two records.
  spdlog::log(kLevels[static_cast<std::size_t>(level)], "{}",
              app.settings().log.format == "json" ? Printable(JsonText(nlohmann::json(text)))
                                                  : Printable(text, Lines::kEscape));
}

// --- store

Result<std::unique_ptr<store::Store>> OpenStore(const App& app, const Settings& settings, bool read_only) {
  if (!read_only) {
    std::error_code error;
    fs::create_directories(settings.state_dir, error);
    if (error) {
      return Error{ErrorCode::kStore, "cannot create " + settings.state_dir + ": " + error.message() +
                                          "; set state_dir to a directory that you can write"};
    }
  }
  store::StoreOptions options{config::StoreUrl(settings), read_only};
  options.on_damage = [&app](const store::Damage& damage) { commands::NoteDamage(app, damage); };
  return store::Store::Open(options, *app.clock);
}

// --- traces of jobs

Result<commands::ReadTrace> ReadTrace(const std::string& path, const commands::TraceProgress& progress) {
  auto import = trace::ReadTraces(path, {.progress = progress});
  if (!import) return import.error();
  return commands::ReadTrace{
      std::move(import->capture), std::move(import->digest), import->bytes, import->files, import->records,
      std::move(import->warnings)};
}

}  // namespace
}  // namespace breakwatch

int main(int argc, char** argv) {
  using namespace breakwatch;  // NOLINT: the whole program
  // Not a command of the user's: how this program starts a worker in a sandbox.
  if (argc > 1 && argv[1] == capture::kConfineCommand) return capture::ConfineAndExec({argv + 2, argv + argc});
  App app;
  app.version = BREAKWATCH_VERSION;
  app.clock = &RealClock();
  app.log = [&](Level level, const std::string& text) { Log(app, level, text); };
  app.open_store = [&](const Settings& s, bool read_only) { return OpenStore(app, s, read_only); };
  app.make_lister = [&](const Settings& s) { return wiring::MakeLister(app, s); };
  app.read_trace = ReadTrace;
  app.make_runner = [&](const Settings& s) { return wiring::MakeRunner(app, s); };
  app.make_builder = [&](const Settings& s, const engine::BuildFolders& f) { return wiring::MakeBuilder(app, s, f); };
  app.make_checker = [&](const Settings& s) { return wiring::MakeChecker(app, s); };
  app.make_registry = [&](const Settings& s, const std::string& name) { return wiring::MakeRegistry(app, s, name); };
  app.make_weights = [&](const Settings& s) { return wiring::MakeWeights(app, s); };
  app.describe_toolchain = [&](const Settings& s) { return wiring::DescribeToolchain(app, s); };
  app.compose_toolchain = wiring::ComposeToolchain;
  app.with_toolchain = [](const Settings& s, const ToolchainRef& t) { return wiring::WithToolchain(s, t); };
  app.toolchain_names = [](const Settings& s) { return wiring::ToolchainNames(s.capture); };
  app.ignored_config_keys = [](const Settings&) { return wiring::IgnoredConfigKeys(); };
  app.plan_setup = wiring::PlanSetup;
  app.set_up = wiring::SetUp;
  app.make_exporters = [&](const Settings& s) { return wiring::MakeExporters(app, s); };
  app.make_sender = [] { return net::MakeHttpSender(wiring::kUserAgent); };
  app.hub_endpoint = wiring::HubEndpoint;
  app.check_toolchain = [&](const Settings& s) { return wiring::CheckToolchain(app, s); };
  app.discover = [&](const Settings& s, const commands::DiscoverRequest& r) { return wiring::Discover(app, s, r); };
  app.keep_capture = [&](const Settings& s, const commands::KeepRequest& r) { return wiring::KeepCapture(app, s, r); };
  app.hub_record = wiring::RecordHub;
  app.hub_serve = wiring::ServeHub;
  return commands::Main(app, argc, argv);
}
