// `breakwatch import`: the trace of a job goes through the same loop as a capture, with a list of one model and a
// runner that has its result already.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "breakwatch/core/family.h"
#include "breakwatch/report/sweep.h"
#include "commands.h"
#include "session.h"
#include "signals.h"

namespace breakwatch::commands {
namespace {

constexpr std::size_t kMaxCommitBytes = 64;

// One model: what the trace is of.
class ImportLister final : public ModelLister {
 public:
  explicit ImportLister(RankedList list) : list_(std::move(list)) {}
  Result<RankedList> List(const ListRequest&, std::stop_token, const Progress&) override { return list_; }

 private:
  const RankedList list_;
};

// Answers the first job with what was read.
class ImportRunner final : public CaptureRunner {
 public:
  explicit ImportRunner(CaptureResult capture) : capture_(std::move(capture)) {}

  std::size_t Capacity() const override { return started_ ? 0 : 1; }
  Result<void> Start(const CaptureJob& job) override {
    started_ = true;
    capture_.job_id = job.id;
    ready_ = capture_;
    return {};
  }
  // Waits for nothing: the only capture is ready once it was started, and nothing else is to come.
  Waited Wait(SteadyTime, int) override {
    Waited waited{.finished = std::exchange(ready_, std::nullopt)};
    waited.woken = !waited.finished;
    return waited;
  }
  std::vector<std::string> StopAll() override { return {}; }

 private:
  CaptureResult capture_;
  std::optional<CaptureResult> ready_;
  bool started_ = false;
};

// Stands where a configuration does: it tells one trace from another, so that the same one is known again.
std::string TraceAsConfig(const ReadTrace& trace) {
  return nlohmann::json{{"trace", {{"digest", trace.digest}, {"files", trace.files}, {"bytes", trace.bytes}}}}.dump();
}

RankedList ListOf(const ImportOptions& options, const ReadTrace& trace) {
  RankedModel model;
  model.info.id = options.model;
  model.info.sha = options.commit;
  if (const auto family = ParseFamily(options.family)) model.info.family = *family;
  model.info.config_source = "trace";
  model.config_json = TraceAsConfig(trace);
  RankedList list;
  list.source = "import " + options.path;
  list.models.push_back(std::move(model));
  return list;
}

Result<SweepRequest> RequestOf(const ImportOptions& options) {
  SweepRequest request;
  request.trigger = kImport;
  request.track = options.track;
  request.list.ids = {options.model};
  if (auto named = CheckNames(request); !named) return named.error();
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-'; };
  if (options.commit.empty() || options.commit.size() > kMaxCommitBytes ||
      !std::all_of(options.commit.begin(), options.commit.end(), plain)) {
    return Error{ErrorCode::kUsage, "--commit should be a commit, as git or the Hub writes it"};
  }
  if (!options.family.empty() && !ParseFamily(options.family)) {
    return Error{ErrorCode::kUsage, "--family \"" + options.family + "\" is not a family"};
  }
  return request;
}

// "read 214 of 600 MB" on a terminal; elsewhere nothing, for a file of logs wants no bar.
TraceProgress ProgressOf(const App& app, bool quiet) {
  if (quiet || isatty(fileno(app.err)) != 1) return {};
  return [&app](std::uint64_t done, std::uint64_t total) {
    std::fprintf(app.err, "\rread %.0f of %.0f MB%s", static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6,
                 done == total ? "\n" : "");
  };
}

// The app that the loop is to see: the model, the toolchain and the capture are those of the trace.
App AppFor(const App& app, const ImportOptions& options, const ReadTrace& trace) {
  App imported = app;
  auto& capture_settings = imported.loaded.settings.capture;
  capture_settings.modes = {kImport};
  capture_settings.verify_share = 0;
  capture_settings.repeat = 1;
  capture_settings.extra_toolchains.clear();
  capture_settings.inputs_file.clear();
  imported.describe_toolchain = [toolchain = trace.capture.toolchain](const Settings&) { return toolchain; };
  imported.ignored_config_keys = [](const Settings&) { return std::set<std::string>(); };
  imported.make_lister = [list = ListOf(options, trace)](const Settings&) -> Result<std::unique_ptr<ModelLister>> {
    return std::unique_ptr<ModelLister>(std::make_unique<ImportLister>(list));
  };
  imported.make_runner = [capture = trace.capture](const Settings&) -> Result<std::unique_ptr<CaptureRunner>> {
    return std::unique_ptr<CaptureRunner>(std::make_unique<ImportRunner>(capture));
  };
  return imported;
}

int Conclude(App& app, const ImportOptions& options, const Sweep& sweep, const std::vector<std::string>& behind) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  const auto results = (*store)->Results(sweep.id);
  if (!results) return Fail(app, results.error());
  Print(app, report::RenderSweep(sweep, *results, FormatOf(app), StyleOf(app)));
  if (!app.json)
    Print(app, "\nNext      breakwatch show " + options.model + ", breakwatch reasons --sweep " + sweep.id + "\n");
  for (const std::string& exporter : behind) {
    app.log(Level::kError, exporter + " did not accept everything in time; what is pending is sent by the next run");
  }
  return sweep.complete && behind.empty() ? kExitOk : kExitIncomplete;
}

class Silent final : public ProgressListener {};

}  // namespace

int RunImport(App& app, const ImportOptions& options) {
  const auto request = RequestOf(options);
  if (!request) return Fail(app, request.error());
  std::optional<ExitOnSignals> exit_on_signals(std::in_place);  // nothing is stored yet
  const auto began = app.clock->Steady();
  const auto trace = app.read_trace(options.path, ProgressOf(app, options.quiet));
  if (!trace) return Fail(app, trace.error());
  exit_on_signals.reset();
  if (!options.quiet) {
    const double seconds = std::chrono::duration<double>(app.clock->Steady() - began).count();
    std::fprintf(app.err, "%lld records in %lld file%s, %.1f MB, read in %.2f s\n",
                 static_cast<long long>(trace->records), static_cast<long long>(trace->files),
                 trace->files == 1 ? "" : "s", static_cast<double>(trace->bytes) / 1e6, seconds);
  }
  for (const std::string& warning : trace->warnings) app.log(Level::kWarn, warning);

  App imported = AppFor(app, options, *trace);
  Silent silent;
  auto session = Session::Open(imported, silent);
  if (!session) return Fail(app, session.error());
  const Signals signals((*session)->commands(), [&] { return *request; });
  const auto sweep = (*session)->loop().RunSweep(*request);
  if (!sweep) return Fail(app, sweep.error());
  const std::vector<std::string> behind = (*session)->Drain();
  (*session)->StoreLateEvents();
  return Conclude(app, options, *sweep, behind);
}

}  // namespace breakwatch::commands
