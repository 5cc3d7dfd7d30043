// `breakwatch sweep` and `breakwatch plan`.
#include "breakwatch/report/sweep.h"

#include <map>

#include "breakwatch/config/keys.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/plan_request.h"
#include "breakwatch/report/compare.h"
#include "breakwatch/report/fixes.h"
#include "breakwatch/report/progress.h"
#include "commands.h"
#include "remote_history.h"
#include "report_output.h"
#include "run_request.h"
#include "session.h"
#include "signals.h"
#include "warnings_only.h"

namespace breakwatch::commands {
namespace {

// A model was requested by name and does not exist. This is a usage error, not a finding about the model.
class MissingNames {
 public:
  void Add(const ModelResult& result) {
    if (result.capture.status == Status::kSkippedNotFound) missing_.try_emplace(result.info.id, result.capture.detail);
  }
  // Reports each once, for all modes.
  int Code(const App& app) const {
    int code = kExitOk;
    for (const auto& [model, detail] : missing_) {
      code = Fail(app, {ErrorCode::kNotFound, model + " not found: " + detail});
    }
    return code;
  }

 private:
  std::map<std::string, std::string> missing_;
};

// Prints the summary of a sweep from the store and returns its exit code.
int Conclude(App& app, const Sweep& sweep, const std::vector<std::string>& behind, bool by_name,
             const compare::GateDecision* gate) {
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  MissingNames missing;
  const report::EachResult each = [&](const report::UseResult& use) {
    return EachOf(app, **store, sweep.id)([&](const ModelResult& result) {
      if (by_name) missing.Add(result);
      return use(result);
    });
  };
  const report::Format format = FormatOf(app);
  if (gate == nullptr && report::CanStream(format, sweep)) {
    if (const int code = WriteStreamed(app, "", format, {.sweep = sweep, .each = each}); code != kExitOk) return code;
  } else {
    std::vector<ModelResult> results;
    auto read =
        each([&](const ModelResult& result) -> Result<void> { return results.push_back(result), Result<void>(); });
    if (!read) return Fail(app, read.error());
    Print(app, report::RenderSweep({.sweep = sweep, .results = results, .gate = gate}, format, StyleOf(app)));
  }
  const int code = CodeOf(app, sweep, behind);
  return by_name && code == kExitOk ? missing.Code(app) : code;
}

// Not of what followed them: trying fixes.
bool IsOfCaptures(const Sweep& sweep) {
  return sweep.modes.size() != 1 || !sweep.modes.contains(std::string(kFixMode));
}

int ConcludeFixes(const App& app, const Sweep& sweep) {
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  auto results = (*store)->Results(sweep.id);
  if (!results) return Fail(app, results.error());
  Print(app, (app.json ? "" : "\n") + report::Render(report::FixSummaryTable(*results), FormatOf(app), StyleOf(app)));
  return kExitOk;
}

// The command that shows the results of this state directory in a browser.
std::string PageCommand(const App& app) {
  const auto origin = app.loaded.origins.find("state_dir");
  const bool by_flag = origin != app.loaded.origins.end() && origin->second.kind == config::Origin::Kind::kFlag;
  return "breakwatch page" + (by_flag ? " --state-dir " + ShellQuoted(app.settings().state_dir) : "");
}

// Where the metrics went, a line for each place.
std::string MetricPlaces(const config::ExporterSettings& exporters) {
  std::string text;
  if (const auto& gateway = exporters.pushgateway; !gateway.url.empty())
    text += "Metrics   " + gateway.url + "/metrics, job " + gateway.job + "\n";
  if (const auto& receiver = exporters.remote_write; !receiver.url.empty())
    text += "Metrics   " + receiver.url + ", job " + receiver.job + "\n";
  if (const std::string url = config::OtlpMetricsUrl(exporters.otlp); !url.empty())
    text += "Metrics   " + url + " by OTLP\n";
  return text.empty() ? "Metrics   not pushed: set exporters.pushgateway.url\n" : text;
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
  if (by_us) text += MetricPlaces(settings.exporters);
  text += "Page      " + (by_us ? PageCommand(app) + ", then " : std::string()) + "http://" +
          settings.web.listen_address + "/\n";
  text += "Next      breakwatch show MODEL, breakwatch reasons, breakwatch report --format md\n";
  Print(app, text);
}

// Prints the decision of the gate and returns its exit code. `sweeps`: by toolchain; the first was compared.
int ConcludeGate(App& app, const std::vector<Sweep>& sweeps, const std::string& baseline,
                 const compare::GateDecision& gate) {
  if (!app.json) Print(app, "\n" + report::RenderGate(gate, report::Format::kText));
  if (std::count_if(sweeps.begin(), sweeps.end(), IsOfCaptures) > 1) {
    app.log(Level::kWarn, "the gate compared toolchain " + sweeps.front().toolchain.name +
                              " only: `breakwatch compare " + "--baseline FILE ID` compares another sweep");
  }
  SuggestUpdate(app, baseline, sweeps.front().id, gate);
  return gate.failed ? kExitRegressions : kExitOk;
}

// Prints the results of all sweeps of a request, one per toolchain.
int ConcludeAll(App& app, const SweepRequest& request, const RequestDone& done, const GateOptions& gate) {
  const api::Followed& swept = done.swept;
  int code = kExitOk;
  std::optional<compare::GateDecision> decided;  // of the first sweep
  if (!gate.baseline.empty() && !swept.sweeps.empty() && !swept.error) {
    auto result = GateSweep(app, swept.sweeps.front(), gate);
    if (!result) code = Fail(app, result.error());
    if (result) decided = *std::move(result);
  }
  const bool several = std::count_if(swept.sweeps.begin(), swept.sweeps.end(), IsOfCaptures) > 1;
  for (const Sweep& sweep : swept.sweeps) {
    if (!IsOfCaptures(sweep)) {
      code = FirstThatApplies(code, ConcludeFixes(app, sweep));
      code = FirstThatApplies(code, CodeOf(app, sweep, {}));  // what is behind is said once, by the first sweep
      continue;
    }
    if (several) Print(app, app.json ? "" : "\nToolchain " + sweep.toolchain.Key() + "\n\n");
    const bool is_gated = decided && &sweep == &swept.sweeps.front();
    code = FirstThatApplies(
        code, Conclude(app, sweep, swept.behind, !request.list.ids.empty(), is_gated ? &*decided : nullptr));
  }
  if (swept.error) return FirstThatApplies(code, Fail(app, WithResumeCommand(app, *swept.error)));
  PrintPlaces(app, done.by_us, done.reported);
  if (decided) code = FirstThatApplies(code, ConcludeGate(app, swept.sweeps, gate.baseline, *decided));
  return done.reported ? code : FirstThatApplies(code, kExitStore);
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
  auto list = engine::ListModels(**lister, request, printer, engine::WaitForStop(commands));
  if (!list) return list.error();
  const auto toolchain = ToolchainOf(app, request, options->plan.toolchain);
  if (!toolchain) return toolchain.error();
  const SystemTime now = app.clock->Now();
  return engine::PlanRequest(engine::MakeSweepId(now), request, *std::move(list),
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

  if (options.resume) NameFlagsOfThePlan(app, options);
  const auto done = RunRequest(app, *request, progress, options.local_gateway);
  if (!done) return Fail(app, done.error());
  return ConcludeAll(app, *request, *done, options.gate);
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
