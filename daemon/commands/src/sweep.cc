// `breakwatch sweep` and `breakwatch plan`.
#include "breakwatch/report/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "breakwatch/core/json.h"
#include "breakwatch/report/progress.h"
#include "commands.h"
#include "local_gateway.h"
#include "session.h"
#include "signals.h"

namespace breakwatch::commands {
namespace {

// Prints what a sweep came to, from the store, and returns its exit code.
int Conclude(App& app, const Sweep& sweep, const std::vector<std::string>& behind) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  const auto results = (*store)->Results(sweep.id);
  if (!results) return Fail(app, results.error());
  Print(app, report::RenderSweep(sweep, *results, FormatOf(app), StyleOf(app)));
  return CodeOf(app, sweep, behind);
}

// The same of all sweeps of a request, by a toolchain each: the worst exit code, where an incomplete sweep is the
// least.
int ConcludeAll(App& app, const api::Followed& swept) {
  int code = kExitOk;
  for (const Sweep& sweep : swept.sweeps) {
    if (swept.sweeps.size() > 1) Print(app, app.json ? "" : "\nToolchain " + sweep.toolchain.Key() + "\n\n");
    const int one = Conclude(app, sweep, swept.behind);
    if (code == kExitOk || one != kExitIncomplete) code = one == kExitOk ? code : one;
  }
  return swept.error ? Fail(app, *swept.error) : code;
}

// Flags that a running daemon does not hear of: a request carries what is in this set, the rest is the daemon's own.
std::string UnheardFlags(const App& app) {
  static const std::set<std::string, std::less<>> kHeard{
      "capture.modes",  "hub.author", "hub.filters", "hub.gated", "hub.library", "hub.max_params", "hub.min_params",
      "hub.per_family", "hub.search", "hub.sort",    "hub.task",  "hub.top",     "state_dir",      "sweep.rebuild"};
  std::string unheard;
  for (const auto& [key, origin] : app.loaded.origins) {
    if (!origin.starts_with("flag ") || kHeard.contains(key) || key.starts_with("log.")) continue;
    unheard += (unheard.empty() ? "--" : ", --") + key;
  }
  return unheard;
}

// `by_us`: not by a daemon, whose exporters are not known here.
void PrintPlaces(const App& app, bool by_us) {
  if (app.json) return;
  const Settings& settings = app.settings();
  const std::string& state = settings.state_dir;
  std::string text = "\nReport    " + state + "/latest/report.md\nResults   " + state + "/latest/results.jsonl\n";
  text += "Store     " + config::StoreUrl(settings) + "\n";
  if (settings.exporters.file.enabled) text += "Events    " + config::EventFilePath(settings) + "\n";
  if (const auto& gateway = settings.exporters.pushgateway; by_us) {
    text += "Metrics   " +
            (gateway.url.empty() ? std::string("no Pushgateway configured: set exporters.pushgateway.url")
                                 : gateway.url + "/metrics, job " + gateway.job) +
            "\n";
  }
  text += "Next      breakwatch show MODEL, breakwatch reasons, breakwatch report --format md\n";
  Print(app, text);
}

int SweepHere(App& app, const SweepRequest& request, ProgressListener& progress) {
  Fanout fanout;
  SweepFiles files(app);
  fanout.Add(progress);
  fanout.Add(files);
  auto session = Session::Open(app, fanout);
  if (!session) return Fail(app, session.error());
  const Signals signals((*session)->commands(), [&] { return request; });
  files.OnTrim([&](int keep_sweeps) { (*session)->TrimEvents(keep_sweeps); });
  const auto swept = (*session)->loop().RunSweeps(request);
  if (swept.sweeps.empty()) {
    if (swept.error->code == ErrorCode::kInterrupted) (*session)->Drain();
    return Fail(app, *swept.error);
  }
  const std::vector<std::string> behind = (*session)->Drain();
  (*session)->StoreLateEvents();
  return ConcludeAll(app, {swept.sweeps, behind, swept.error});
}

class Silent final : public ProgressListener {};

}  // namespace

int RunSweep(App& app, const SweepOptions& typed) {
  SweepOptions options = typed;
  auto models = ResolveSelectors(app, typed.models);
  if (!models) return Fail(app, models.error());
  options.models = std::move(*models);
  const auto request = MakeRequest(app.settings(), options);
  if (!request) return Fail(app, request.error());
  Silent silent;
  auto printer = report::ProgressPrinter::For(app.err, *app.clock);
  ProgressListener& progress = options.quiet ? static_cast<ProgressListener&>(silent) : printer;

  const auto followed = HandOver(app, *request, progress);
  if (!followed) return Fail(app, followed.error());
  if (*followed) {
    if (const std::string unheard = UnheardFlags(app); !unheard.empty()) {
      app.log(Level::kWarn,
              "the daemon of " + app.settings().state_dir + " swept by its own settings; without effect: " + unheard);
    }
    const int code = ConcludeAll(app, **followed);
    PrintPlaces(app, /*by_us=*/false);
    return code;
  }
  if (options.local_gateway) UseLocalGateway(app);
  const int code = SweepHere(app, *request, progress);
  if (code == kExitOk || code == kExitIncomplete) PrintPlaces(app, /*by_us=*/true);
  return code;
}

int RunPlan(App& app, const SweepOptions& typed) {
  SweepOptions options = typed;
  auto models = ResolveSelectors(app, typed.models);
  if (!models) return Fail(app, models.error());
  options.models = std::move(*models);
  const auto request = MakeRequest(app.settings(), options);
  if (!request) return Fail(app, request.error());
  auto loop_options = MakeLoopOptions(app, app.settings());
  if (!loop_options) return Fail(app, loop_options.error());
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  // Before the first sweep there is nothing to read: the plan is made against an empty store.
  if (!store && store.error().code == ErrorCode::kNotFound) store = app.open_store(app.settings(), /*read_only=*/false);
  if (!store) return Fail(app, store.error());
  auto lister = app.make_lister(app.settings());
  if (!lister) return Fail(app, lister.error());
  auto runner = app.make_runner(app.settings());
  if (!runner) return Fail(app, runner.error());
  auto printer = report::ProgressPrinter::For(app.err, *app.clock);
  CommandQueue commands;
  std::unique_ptr<CaptureRunner> further;
  const auto open_toolchain = [&](const std::string& name) -> Result<engine::FurtherToolchain> {
    const auto settings = app.with_toolchain(app.settings(), name);
    if (!settings) return settings.error();
    auto toolchain = app.describe_toolchain(*settings);
    if (!toolchain) return toolchain.error();
    auto made = app.make_runner(*settings);
    if (!made) return made.error();
    further = std::move(*made);
    return engine::FurtherToolchain{*std::move(toolchain), further.get()};
  };
  engine::Loop loop({**store,
                     **lister,
                     **runner,
                     *app.clock,
                     printer,
                     commands,
                     [](SnapshotPtr, bool) {},
                     {},
                     {},
                     open_toolchain,
                     {}},
                    *loop_options);
  const Signals signals(commands, [&] { return *request; });
  const auto plan = loop.PlanOnly(*request);
  if (!plan) return Fail(app, plan.error());
  if (!options.output.empty()) {
    std::ofstream file(options.output, std::ios::binary | std::ios::trunc);
    file << ToJson(*plan) << "\n";
    if (!file.flush()) return Fail(app, {ErrorCode::kStore, "cannot write " + options.output});
  }
  Print(app, report::RenderPlan(*plan, FormatOf(app), StyleOf(app)));
  return kExitOk;
}

}  // namespace breakwatch::commands
