// `breakwatch sweep` and `breakwatch plan`.
#include "breakwatch/report/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "breakwatch/config/keys.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/plan_request.h"
#include "breakwatch/report/compare.h"
#include "breakwatch/report/directory.h"
#include "breakwatch/report/progress.h"
#include "commands.h"
#include "local_gateway.h"
#include "remote_history.h"
#include "remote_sweep.h"
#include "session.h"
#include "signals.h"
#include "sweep_files.h"
#include "warnings_only.h"

namespace breakwatch::commands {
namespace {

// A model was requested by name and does not exist. This is a usage error, not a finding about the model.
int CodeOfNames(const App& app, const std::vector<ModelResult>& results) {
  int code = kExitOk;
  std::set<std::string, std::less<>> reported;  // once per model, for all modes
  for (const ModelResult& result : results) {
    if (result.capture.status != Status::kSkippedNotFound || !reported.insert(result.info.id).second) continue;
    code = Fail(app, {ErrorCode::kNotFound, result.info.id + " not found: " + result.capture.detail});
  }
  return code;
}

// Prints the summary of a sweep from the store and returns its exit code.
int Conclude(App& app, const Sweep& sweep, const std::vector<std::string>& behind, bool by_name,
             const compare::GateDecision* gate) {
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  auto results = (*store)->Results(sweep.id);
  if (!results) return Fail(app, results.error());
  NoteOwners(*results, app.settings().models.rules.owners);
  Print(app, report::RenderSweep({.sweep = sweep, .results = *results, .gate = gate}, FormatOf(app), StyleOf(app)));
  const int code = CodeOf(app, sweep, behind);
  return by_name && code == kExitOk ? CodeOfNames(app, *results) : code;
}

// True if a sweep request contains this setting. A resumed sweep keeps the settings of its plan. A running daemon
// accepts only these settings.
bool IsOfARequest(const std::string& key) {
  static const std::set<std::string, std::less<>> kOfARequest{
      "capture.calls",  "capture.modes",  "hub.author", "hub.filters", "hub.gated", "hub.library", "hub.max_params",
      "hub.min_params", "hub.per_family", "hub.search", "hub.sort",    "hub.task",  "hub.top",     "sweep.rebuild"};
  return kOfARequest.contains(key);
}

// The flags on the command line that a request contains, or all others.
std::string FlagsTyped(const App& app, bool of_a_request) {
  std::string flags;
  for (const auto& [key, origin] : app.loaded.origins) {
    if (origin.kind != config::Origin::Kind::kFlag || key == "state_dir" || key.starts_with("log.")) continue;
    if (IsOfARequest(key) == of_a_request) flags += (flags.empty() ? "--" : ", --") + key;
  }
  return flags;
}

void NameFlagsWithoutEffect(const App& app, const std::string& why, const std::string& flags) {
  if (!flags.empty()) app.log(Level::kWarn, why + "; ignored: " + flags);
}

// The command that shows the results of this state directory in a browser.
std::string PageCommand(const App& app) {
  const auto origin = app.loaded.origins.find("state_dir");
  const bool by_flag = origin != app.loaded.origins.end() && origin->second.kind == config::Origin::Kind::kFlag;
  return "breakwatch page" + (by_flag ? " --state-dir " + ShellQuoted(app.settings().state_dir) : "");
}

// `by_us`: this process ran the sweep; a daemon's exporters are unknown here. `reported`: the report is written.
void PrintPlaces(const App& app, bool by_us, bool reported) {
  if (app.json || !app.server.empty()) return;
  const Settings& settings = app.settings();
  const std::string& state = settings.state_dir;
  std::string text = "\n";
  if (reported) text += "Report    " + state + "/latest/report.md\nResults   " + state + "/latest/results.jsonl\n";
  text += "Store     " + config::StoreUrl(settings) + "\n";
  if (settings.exporters.file.enabled) text += "Events    " + config::EventFilePath(settings) + "\n";
  if (const auto& gateway = settings.exporters.pushgateway; by_us) {
    text += "Metrics   " +
            (gateway.url.empty() ? std::string("not pushed: set exporters.pushgateway.url")
                                 : gateway.url + "/metrics, job " + gateway.job) +
            "\n";
  }
  text += "Page      " + (by_us ? PageCommand(app) + ", then " : std::string()) + "http://" +
          settings.web.listen_address + "/\n";
  text += "Next      breakwatch show MODEL, breakwatch reasons, breakwatch report --format md\n";
  Print(app, text);
}

bool DidDaemonReport(const App& app, const std::vector<Sweep>& sweeps) {
  if (AreReported(app.settings().state_dir, sweeps)) return true;
  Fail(app, {ErrorCode::kStore, "the sweep is stored, but the daemon of " + app.settings().state_dir +
                                    " did not write its report; see its log"});
  return false;
}

// The command that resumes an interrupted sweep.
std::string ResumeCommand(const App& app) {
  std::string command = "breakwatch sweep --resume";
  for (const std::string& file : app.sources.files) command += " --config.file " + ShellQuoted(file);
  std::map<std::string, std::string> names;
  for (const config::Flag& flag : config::Flags()) names[flag.key] = flag.names.back();
  for (const auto& [key, values] : app.sources.flags) {
    if (IsOfARequest(key)) continue;
    for (const std::string& value : values) command += " " + names[key] + "=" + ShellQuoted(value);
  }
  return command;
}

// Prints the error of an interrupted sweep with the command that resumes it.
int FailSweep(const App& app, Error error) {
  if (error.code != ErrorCode::kInterrupted || !app.server.empty()) return Fail(app, error);
  const auto store = app.open_store(app.settings(), /*read_only=*/true);
  const auto unfinished = store ? (*store)->NewestUnfinished() : Result<std::optional<Sweep>>(std::optional<Sweep>());
  if (unfinished && *unfinished) error.message += "; to continue: " + ResumeCommand(app);
  return Fail(app, error);
}

// Prints the decision of the gate and returns its exit code. `sweeps`: by toolchain; the first was compared.
int ConcludeGate(App& app, const std::vector<Sweep>& sweeps, const std::string& baseline,
                 const compare::GateDecision& gate) {
  if (!app.json) Print(app, "\n" + report::RenderGate(gate, report::Format::kText));
  if (sweeps.size() > 1) {
    app.log(Level::kWarn, "the gate compared toolchain " + sweeps.front().toolchain.name +
                              " only: `breakwatch compare " + "--baseline FILE ID` compares another sweep");
  }
  SuggestUpdate(app, baseline, sweeps.front().id, gate);
  return gate.failed ? kExitRegressions : kExitOk;
}

// Prints the results of all sweeps of a request, one per toolchain. `reported`: their reports are written.
int ConcludeAll(App& app, const SweepRequest& request, const api::Followed& swept, bool by_us, bool reported,
                const GateOptions& gate) {
  int code = kExitOk;
  std::optional<compare::GateDecision> decided;  // of the first sweep
  if (!gate.baseline.empty() && !swept.sweeps.empty() && !swept.error) {
    auto result = GateSweep(app, swept.sweeps.front(), gate);
    if (!result) code = Fail(app, result.error());
    if (result) decided = *std::move(result);
  }
  for (const Sweep& sweep : swept.sweeps) {
    if (swept.sweeps.size() > 1) Print(app, app.json ? "" : "\nToolchain " + sweep.toolchain.Key() + "\n\n");
    const bool is_gated = decided && &sweep == &swept.sweeps.front();
    code = FirstThatApplies(
        code, Conclude(app, sweep, swept.behind, !request.list.ids.empty(), is_gated ? &*decided : nullptr));
  }
  if (swept.error) return FirstThatApplies(code, FailSweep(app, *swept.error));
  PrintPlaces(app, by_us, reported);
  if (decided) code = FirstThatApplies(code, ConcludeGate(app, swept.sweeps, gate.baseline, *decided));
  return reported ? code : FirstThatApplies(code, kExitStore);
}

// The newest sweep in the store, if its report was missing. Everything except the report was done, so writing it
// completes the resumption. Older sweeps whose reports were also written were not requested.
std::optional<Sweep> NewestAmong(const App& app, const std::vector<Sweep>& reported) {
  const auto store = app.open_store(app.settings(), /*read_only=*/true);
  const auto newest = store ? (*store)->Sweeps(1) : Result<std::vector<Sweep>>(store.error());
  const bool is_among = newest && !newest->empty() && !reported.empty() && reported.back().id == newest->front().id;
  return is_among ? std::optional(reported.back()) : std::nullopt;
}

int SweepHere(App& app, const SweepRequest& request, ProgressListener& progress, const GateOptions& gate) {
  Fanout fanout;
  SweepFiles files(app);
  fanout.Add(progress);
  fanout.Add(files);
  auto session = Session::Open(app, fanout);
  if (!session) return Fail(app, session.error());
  const Signals signals((*session)->commands(), [&] { return request; });
  files.OnTrim([&](int keep_sweeps) { (*session)->TrimEvents(keep_sweeps); });
  const auto made_up = SweepFiles(app).WriteMissing();
  auto swept = (*session)->loop().RunByEveryToolchain(request);
  if (request.resume && swept.sweeps.empty() && swept.error->code == ErrorCode::kNotFound) {
    if (const auto newest = NewestAmong(app, made_up)) swept = {{*newest}, std::nullopt};
  }
  const std::vector<std::string> behind = (*session)->Drain();  // also after a failure: its time is published
  (*session)->StoreLateEvents();
  (*session)->PublishDelivery();
  if (swept.sweeps.empty()) return FailSweep(app, *swept.error);
  return ConcludeAll(app, request, {swept.sweeps, behind, swept.error}, /*by_us=*/true, !files.failed(), gate);
}

Result<SweepRequest> RequestOf(App& app, SweepOptions options) {
  if (auto selected = SelectModels(options); !selected) return selected.error();
  auto models = ResolveSelectors(app, options.models);
  if (!models) return models.error();
  options.models = std::move(*models);
  return MakeRequest(app.settings(), options);
}

Result<Toolchain> ToolchainOf(const App& app, const SweepRequest& request, const Toolchain& primary) {
  if (request.toolchain.name.empty() || request.toolchain.name == primary.name) return primary;
  const auto settings = app.with_toolchain(app.settings(), request.toolchain);
  if (!settings) return settings.error();
  return app.describe_toolchain(*settings);
}

// Stores and captures nothing, so it needs neither a session nor workers.
Result<Plan> PlanOf(const App& app, const SweepRequest& request, CommandQueue& commands) {
  const auto options = MakeLoopOptions(app, app.settings());
  if (!options) return options.error();
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  // Before the first sweep there is no store to read, so the plan starts from an empty store.
  if (!store && store.error().code == ErrorCode::kNotFound) store = app.open_store(app.settings(), /*read_only=*/false);
  if (!store) return store.error();
  auto lister = app.make_lister(app.settings());
  if (!lister) return lister.error();
  auto printer = report::ProgressPrinter::For(app.err, *app.clock);
  const auto current = engine::LoadAggregate(**store, options->aggregate);
  if (!current) return current.error();
  const auto list = engine::ListModels(**lister, request, printer, engine::WaitForStop(commands));
  if (!list) return list.error();
  const auto toolchain = ToolchainOf(app, request, options->plan.toolchain);
  if (!toolchain) return toolchain.error();
  const SystemTime now = app.clock->Now();
  return engine::PlanRequest(engine::MakeSweepId(now), request, *list,
                             {.sweeps = **store,
                              .current = current->aggregate,
                              .options = options->plan,
                              .toolchain = *toolchain,
                              .now = now});
}

}  // namespace

int RunSweep(App& app, const SweepOptions& options) {
  const auto request = RequestOf(app, options);
  if (!request) return Fail(app, request.error());
  if (auto checked = CheckGate(app, options.gate); !checked) return Fail(app, checked.error());
  WarningsOnly silent(app);
  auto printer = report::ProgressPrinter::For(app.err, *app.clock);
  ProgressListener& progress = options.quiet ? static_cast<ProgressListener&>(silent) : printer;

  if (options.resume) {
    const std::string planned_by = FlagsTyped(app, /*of_a_request=*/true);
    const std::string toolchain = options.toolchain.empty() ? "" : planned_by.empty() ? "--toolchain" : ", --toolchain";
    NameFlagsWithoutEffect(app, "a resumed sweep keeps its plan", planned_by + toolchain);
  }
  if (!app.server.empty()) {
    NameFlagsWithoutEffect(app, "the daemon at " + app.server + " uses its own settings",
                           FlagsTyped(app, /*of_a_request=*/false));
    const auto swept = SweepThere(app, *request, progress);
    if (!swept) return Fail(app, swept.error());
    return ConcludeAll(app, *request, *swept, /*by_us=*/false, /*reported=*/true, options.gate);
  }
  const auto followed = HandOver(app, *request, progress);
  if (!followed) return Fail(app, followed.error());
  if (*followed) {
    NameFlagsWithoutEffect(app, "the daemon of " + app.settings().state_dir + " uses its own settings",
                           FlagsTyped(app, /*of_a_request=*/false));
    return ConcludeAll(app, *request, **followed, /*by_us=*/false, DidDaemonReport(app, (*followed)->sweeps),
                       options.gate);
  }
  if (options.local_gateway) UseLocalGateway(app);
  return SweepHere(app, *request, progress, options.gate);
}

int RunPlan(App& app, const SweepOptions& options) {
  const auto request = RequestOf(app, options);
  if (!request) return Fail(app, request.error());
  CommandQueue commands;
  const Signals signals(commands, [&] { return *request; });
  const auto plan = PlanOf(app, *request, commands);
  if (!plan) return Fail(app, plan.error());
  if (!options.output.empty()) {
    if (auto written = WriteFile(options.output, ToJson(*plan) + "\n"); !written) return Fail(app, written.error());
  }
  Print(app, report::RenderPlan(*plan, FormatOf(app), StyleOf(app)));
  return plan->models.empty() ? kExitIncomplete : kExitOk;
}

}  // namespace breakwatch::commands
