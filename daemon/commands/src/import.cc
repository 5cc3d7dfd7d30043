// `breakwatch import`: a trace goes through the same loop as a capture, as a plan of one model with a known result. If
// a daemon uses the same state directory, the daemon runs it.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "breakwatch/core/family.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/sweep.h"
#include "commands.h"
#include "session.h"
#include "signals.h"
#include "warnings_only.h"

namespace breakwatch::commands {
namespace {

constexpr std::size_t kMaxCommitBytes = 64;

// An import does not list or capture models, so its session needs neither a Hub nor a worker.
class NoLister final : public ModelLister {
 public:
  Result<RankedList> List(const ListRequest&, std::stop_token, const Progress&) override { return RankedList(); }
};
class NoRunner final : public CaptureRunner {
 public:
  std::size_t Capacity() const override { return 0; }
  Result<void> Start(const CaptureJob&) override { return Error{ErrorCode::kInternal, "an import does not capture"}; }
  Waited Wait(SteadyTime, int) override { return {.finished = {}, .woken = true}; }
  std::vector<std::string> StopAll() override { return {}; }
};

// Takes the place of a configuration. It identifies a trace, so that a repeated import is recognized.
std::string TraceAsConfig(const ReadTrace& trace) {
  return JsonText(
      nlohmann::json{{"trace", {{"digest", trace.digest}, {"files", trace.files}, {"bytes", trace.bytes}}}});
}

Plan PlanOf(const ImportOptions& options, const ReadTrace& trace) {
  PlannedModel model;
  model.info.id = options.model;
  model.info.sha = options.commit;
  if (const auto family = ParseFamily(options.family)) model.info.family = *family;
  model.info.config_source = "trace";
  model.config_json = TraceAsConfig(trace);
  model.mode = kImport;
  Plan plan;
  plan.source = "import " + options.path;
  plan.models.push_back(std::move(model));
  return plan;
}

Result<SweepRequest> RequestOf(const ImportOptions& options) {
  SweepRequest request;
  request.trigger = SweepTrigger::kTraceImport;
  request.toolchain.name = kImport;
  request.track = options.track;
  request.list.ids = {options.model};
  if (auto named = CheckNames(request); !named) return named.error();
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-'; };
  if (options.commit.empty() || options.commit.size() > kMaxCommitBytes ||
      !std::all_of(options.commit.begin(), options.commit.end(), plain)) {
    return Error{ErrorCode::kUsage, "--commit: expected a commit, as git or the Hub writes it"};
  }
  if (!options.family.empty() && !ParseFamily(options.family)) {
    return Error{ErrorCode::kUsage, "--family: unknown family \"" + options.family + "\""};
  }
  return request;
}

// Shows "read 214 of 600 MB" on a terminal, and nothing otherwise, to keep log files short.
TraceProgress ProgressOf(const App& app, bool quiet) {
  if (quiet || isatty(fileno(app.err)) != 1) return {};
  return [&app](std::uint64_t done, std::uint64_t total) {
    std::fprintf(app.err, "\rread %.0f of %.0f MB%s", static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6,
                 done == total ? "\n" : "");
  };
}

// The app for the session. The capture settings may be invalid here, so they are replaced.
App AppFor(const App& app, const ReadTrace& trace) {
  App imported = app;
  imported.loaded.settings.capture.inputs_file.clear();
  imported.describe_toolchain = [toolchain = trace.capture.toolchain](const Settings&) { return toolchain; };
  imported.ignored_config_keys = [](const Settings&) { return engine::IgnoredKeys(); };
  imported.make_lister = [](const Settings&) -> Result<std::unique_ptr<ModelLister>> {
    return std::unique_ptr<ModelLister>(std::make_unique<NoLister>());
  };
  imported.make_runner = [](const Settings&) -> Result<std::unique_ptr<CaptureRunner>> {
    return std::unique_ptr<CaptureRunner>(std::make_unique<NoRunner>());
  };
  return imported;
}

int Conclude(App& app, const ImportOptions& options, const Sweep& sweep, const std::vector<std::string>& behind) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  const auto results = (*store)->Results(sweep.id);
  if (!results) return Fail(app, results.error());
  Print(app, report::RenderSweep({.sweep = sweep, .results = *results}, FormatOf(app), StyleOf(app)));
  if (!app.json)
    Print(app, "\nNext      breakwatch show " + options.model + ", breakwatch reasons --sweep " + sweep.id + "\n");
  return CodeOf(app, sweep, behind);
}

int ImportHere(App& app, const ImportOptions& options, const SweepRequest& request, const ReadTrace& trace) {
  App imported = AppFor(app, trace);
  WarningsOnly silent(app);
  auto session = Session::Open(imported, silent);
  if (!session) return Fail(app, session.error());
  const Signals signals((*session)->commands(), [&] { return request; });
  const auto sweep = (*session)->loop().RunSweep(request);
  if (!sweep) return Fail(app, sweep.error());
  const std::vector<std::string> behind = (*session)->DeliverRest(signals.Stop());
  return Conclude(app, options, *sweep, behind);
}

}  // namespace

int RunImport(App& app, const ImportOptions& options) {
  auto request = RequestOf(options);
  if (!request) return Fail(app, request.error());
  std::optional<ExitOnSignals> exit_on_signals(std::in_place);  // nothing is stored yet: a signal may end the program
  const auto began = app.clock->Steady();
  const auto trace = app.read_trace(options.path, ProgressOf(app, options.quiet));
  if (!trace) return Fail(app, trace.error());
  exit_on_signals.reset();
  if (!options.quiet) {
    const double seconds = std::chrono::duration<double>(app.clock->Steady() - began).count();
    std::fprintf(app.err, "%s in %s, %.1f MB, read in %.2f s\n", Counted(trace->records, "record").c_str(),
                 Counted(trace->files, "file").c_str(), static_cast<double>(trace->bytes) / 1e6, seconds);
  }
  for (const std::string& warning : trace->warnings) app.log(Level::kWarn, warning);

  request->saved_plan = PlanOf(options, *trace);
  request->imported = trace->capture;
  WarningsOnly silent(app);
  const auto followed = HandOver(app, *request, silent);
  if (!followed) return Fail(app, followed.error());
  if (*followed) return Conclude(app, options, (*followed)->sweeps.front(), (*followed)->behind);
  return ImportHere(app, options, *request, *trace);
}

}  // namespace breakwatch::commands
