// The read-only commands: show, reasons, report. They also work while a sweep runs.
#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/measured.h"
#include "breakwatch/report/sweep.h"
#include "commands.h"
#include "fix_trials.h"
#include "remote_history.h"
#include "report_output.h"

namespace breakwatch::commands {
namespace {

struct StoredSweep {
  Sweep sweep;
  std::vector<ModelResult> results;
};

Result<StoredSweep> LoadSweep(store::SweepStore& store, const std::string& id) {
  auto sweep = store.FindSweep(id);
  if (!sweep) return sweep.error();
  auto results = store.Results(sweep->id);
  if (!results) return results.error();
  return StoredSweep{std::move(*sweep), std::move(*results)};
}

// The available results: the newest of each mode and toolchain, or those of one sweep.
Result<std::vector<ModelResult>> ResultsToShow(store::SweepStore& store, const Settings& settings,
                                               const std::string& model, const std::string& sweep_id) {
  if (sweep_id.empty()) return ResultsOf(store, settings, model);
  const auto sweep = store.FindSweep(sweep_id);
  if (!sweep) return sweep.error();
  std::vector<ModelResult> results;
  auto read = store.EachResult(sweep->id, [&](ModelResult result) -> Result<void> {
    if (result.info.id == model) results.push_back(std::move(result));
    return {};
  });
  if (!read) return read.error();
  return results;
}

constexpr int kMaxSweepsSearched = 1000;

constexpr std::pair<std::string_view, std::string_view> kCounterparts[] = {{kMainMode, kColdMode},
                                                                           {kColdMode, kMainMode}};

bool AnyHasMode(const std::vector<Sweep>& sweeps, std::string_view mode) {
  return std::any_of(sweeps.begin(), sweeps.end(),
                     [name = std::string(mode)](const Sweep& sweep) { return sweep.modes.contains(name); });
}

// Whether the report can be written while its results are read: nothing in it needs all of them.
Result<bool> CanStream(store::SweepStore& store, const ReportOptions& options, report::Format format,
                       const Sweep& sweep) {
  if (!options.gate.baseline.empty() || !report::CanStream(format, sweep)) return false;
  const auto sweeps = store.Sweeps(kMaxSweepsSearched);
  if (!sweeps) return sweeps.error();
  return std::none_of(std::begin(kCounterparts), std::end(kCounterparts), [&](const auto& modes) {
    return sweep.modes.contains(std::string(modes.first)) && AnyHasMode(*sweeps, modes.second);
  });
}

// Results from other sweeps for the same models, in the first call or the steady state. They are shown beside the
// sweep's own.
Result<std::vector<ModelResult>> Counterparts(store::SweepStore& store, const StoredSweep& sweep) {
  std::vector<ModelResult> others;
  const auto sweeps = store.Sweeps(kMaxSweepsSearched);
  if (!sweeps) return sweeps.error();
  for (const auto& [here, there] : kCounterparts) {
    std::set<std::string> models;
    for (const ModelResult& r : sweep.results) {
      if (r.capture.mode == here) models.insert(r.info.id);
    }
    for (const ModelResult& r : sweep.results) {
      if (r.capture.mode == there) models.erase(r.info.id);
    }
    if (models.empty() || !AnyHasMode(*sweeps, there)) continue;  // the query below would read all results
    auto newest = store.NewestResults(
        {.model = {}, .mode = std::string(there), .toolchain = sweep.sweep.toolchain.name, .revision = {}});
    if (!newest) return newest.error();
    for (ModelResult& r : *newest) {
      if (models.contains(r.info.id)) others.push_back(std::move(r));
    }
  }
  return others;
}

// The results that --filter and --owner select: of the newest by one toolchain, or of one sweep. No others are held.
Result<std::vector<ModelResult>> SelectedResults(const App& app, store::SweepStore& store, const ShowOptions& options) {
  if (options.sweep.empty()) {
    const std::string& toolchain = options.toolchain.empty() ? app.settings().capture.toolchain : options.toolchain;
    auto newest = store.NewestResults({.model = {}, .mode = options.mode, .toolchain = toolchain, .revision = {}});
    if (!newest) return newest.error();
    if (auto kept = KeepSelected(app, options.selection, *newest); !kept) return kept.error();
    return newest;
  }
  const auto sweep = store.FindSweep(options.sweep);
  if (!sweep) return sweep.error();
  const report::EachResult each = [&](const report::UseResult& use) {
    return EachOf(app, store, sweep->id)([&](const ModelResult& result) {
      const bool is_wanted = (options.mode.empty() || result.capture.mode == options.mode) &&
                             (options.toolchain.empty() || result.capture.toolchain.name == options.toolchain);
      return is_wanted ? use(result) : Result<void>();
    });
  };
  std::vector<ModelResult> selected;
  auto read = EachSelected(app, options.selection, each)([&](const ModelResult& result) -> Result<void> {
    selected.push_back(result);
    return {};
  });
  if (!read) return read.error();
  return selected;
}

Error NoResult(const ShowOptions& options, const std::string& model, std::span<const ModelResult> all) {
  std::string message = "no result of " + model;
  if (!options.mode.empty()) message += " in mode " + options.mode;
  if (!options.toolchain.empty()) message += " by toolchain " + options.toolchain;
  if (!options.sweep.empty()) message += " in sweep " + options.sweep;
  std::string there;
  for (const ModelResult& result : all) {
    there += (there.empty() ? "; stored: " : ", ") + result.capture.mode + " by " + result.capture.toolchain.name;
  }
  return {ErrorCode::kNotFound, message + there, false, {}};
}

int ListSweeps(App& app, const ReportOptions& options) {
  const auto format = report::ParseFormat(app.json ? "json" : options.format);
  if (!format) return Fail(app, {ErrorCode::kUsage, "--format: --list prints text, md, csv or json"});
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  const auto sweeps = (*store)->Sweeps(100);
  if (!sweeps) return Fail(app, sweeps.error());
  return Write(app, options.output, report::Render(report::SweepsTable(*sweeps), *format, StyleOf(app)));
}

}  // namespace

Result<std::string> FindModel(store::SweepStore& store, const std::string& selector) {
  const auto models = store.Models();
  if (!models) return models.error();
  std::vector<std::string> matches;
  for (const std::string& model : *models) {
    if (model == selector) return model;
    if (model.find(selector) != std::string::npos) matches.push_back(model);
  }
  if (matches.size() == 1) return matches.front();
  std::string message = "no result of model \"" + selector + "\"";
  if (matches.size() > 1) {
    message = "\"" + selector + "\" is part of " + std::to_string(matches.size()) + " models: ";
    for (std::size_t i = 0; i < matches.size() && i < 5; ++i) message += (i == 0 ? "" : ", ") + matches[i];
    if (matches.size() > 5) message += ", ...";
  } else if (const auto nearest = NearestName(selector, *models)) {
    message += "; did you mean \"" + *nearest + "\"?";
  }
  return Error{ErrorCode::kUsage, message};
}

Result<std::vector<ModelResult>> ResultsOf(store::SweepStore& store, const Settings& settings,
                                           const std::string& model) {
  auto results = store.NewestResults({.model = model, .mode = {}, .toolchain = {}, .revision = {}});
  if (!results) return results.error();
  std::stable_partition(results->begin(), results->end(), [&](const ModelResult& result) {
    return result.capture.toolchain.name == settings.capture.toolchain;
  });
  return results;
}

// A row for each result of the models that --filter and --owner select.
int ListResults(App& app, const ShowOptions& options, report::Format format) {
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  const auto results = SelectedResults(app, **store, options);
  if (!results) return Fail(app, results.error());
  Print(app, report::Render(report::ResultTable(*results), format, StyleOf(app)));
  return kExitOk;
}

int RunShow(App& app, const ShowOptions& options) {
  const auto format = report::ParseFormat(app.json ? "json" : options.format);
  if (!format) return Fail(app, {ErrorCode::kUsage, "--format: expected text, md, csv or json"});
  if (options.model.empty() == options.selection.empty()) {
    return Fail(app, {ErrorCode::kUsage, "name one model, or list several with --filter or --owner"});
  }
  if (options.model.empty()) return ListResults(app, options, *format);
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  const auto model = FindModel(**store, options.model);
  if (!model) return Fail(app, model.error());
  auto results = ResultsToShow(**store, app.settings(), *model, options.sweep);
  if (!results) return Fail(app, results.error());
  if (auto added = AddTrials(**store, *model, *results); !added) return Fail(app, added.error());
  const ModelResult* result = report::SelectResult(*results, options.mode, options.toolchain);
  if (result == nullptr) return Fail(app, NoResult(options, *model, *results));
  report::Style style = StyleOf(app);
  style.whole_stacks = options.stack;
  Print(app, report::RenderModel(*result, *format, style, *results));
  return kExitOk;
}

namespace {

// By what the breaks cost in the newest profiles, whatever sweep they are of.
int RunReasonsByCost(App& app, const ReasonsOptions& options) {
  if (!options.mode.empty() || options.sweep != ReasonsOptions().sweep) {
    return Fail(app, {ErrorCode::kUsage, "--by cost: reads the newest profiles, and takes neither --mode nor --sweep"});
  }
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  auto profiles = (*store)->NewestResults(
      {.model = {}, .mode = std::string(kProfileMode), .toolchain = app.settings().capture.toolchain, .revision = {}});
  if (!profiles) return Fail(app, profiles.error());
  std::erase_if(*profiles, [](const ModelResult& result) { return result.capture.mode_detail_json.empty(); });
  if (!profiles->empty()) {
    if (auto kept = KeepSelected(app, options.selection, *profiles); !kept) return Fail(app, kept.error());
  }
  const auto limit = static_cast<std::size_t>(std::max(0, options.limit));
  Print(app, report::Render(report::CostlyReasonTable(*profiles, limit), FormatOf(app), StyleOf(app)));
  return kExitOk;
}

Result<report::Table> ReasonsOf(App& app, store::SweepStore& store, const ReasonsOptions& options,
                                report::ReasonOrder order) {
  const auto limit = static_cast<std::size_t>(std::max(0, options.limit));
  const auto found = store.FindSweep(options.sweep);
  if (!found) return found.error();
  const auto tried = NewestTrials(store, found->toolchain.name);
  if (!tried) return tried.error();
  const report::EachResult each = [&](const report::UseResult& use) {
    const auto use_wanted = [&](const ModelResult& result) {
      return options.mode.empty() || result.capture.mode == options.mode ? use(result) : Result<void>();
    };
    // A filter may need facts that only a result's document has.
    return options.selection.empty() ? store.EachOutcome(found->id, use_wanted)
                                     : store.EachResult(found->id, use_wanted);
  };
  return report::ReasonTable(EachSelected(app, options.selection, each), order, limit, *tried);
}

}  // namespace

int RunReasons(App& app, const ReasonsOptions& options) {
  if (options.sites) return RunSites(app, options);
  if (options.by == "cost") return RunReasonsByCost(app, options);
  const auto order = report::ParseReasonOrder(options.by.empty() ? "events" : options.by);
  if (!order) return Fail(app, {ErrorCode::kUsage, "--by: expected events, sites, models, leverage or cost"});
  if (!options.mode.empty() && !IsMode(options.mode))
    return Fail(app, {ErrorCode::kUsage, "unknown mode \"" + options.mode + "\""});
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  const auto table = ReasonsOf(app, **store, options, *order);
  if (!table) return Fail(app, table.error());
  Print(app, report::Render(*table, FormatOf(app), StyleOf(app)));
  return kExitOk;
}

int RunReport(App& app, const ReportOptions& options) {
  if (options.list && !options.selection.empty())
    return Fail(app, {ErrorCode::kUsage, "--list lists sweeps, and selects no models"});
  if (options.list) return ListSweeps(app, options);
  const auto format = ReportFormatOf(app, options.format);
  if (!format) return Fail(app, format.error());
  if (auto checked = CheckGate(app, options.gate); !checked) return Fail(app, checked.error());
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  const auto found = (*store)->FindSweep(options.sweep);
  if (!found) return Fail(app, found.error());
  const auto can_stream = CanStream(**store, options, *format, *found);
  if (!can_stream) return Fail(app, can_stream.error());
  const std::string filter = LineOf(options.selection);
  if (*can_stream) {
    const auto each = EachSelected(app, options.selection, EachOf(app, **store, found->id));
    if (!options.selection.empty()) {  // whether it selects anything must be known before the first byte
      if (auto checked = each([](const ModelResult&) { return Result<void>(); }); !checked)
        return Fail(app, checked.error());
    }
    return WriteStreamed(app, options.output, *format,
                         {.sweep = *found, .each = each, .made_at = app.clock->Now(), .filter = filter});
  }
  auto sweep = LoadSweep(**store, found->id);
  if (!sweep) return Fail(app, sweep.error());
  if (auto kept = KeepSelected(app, options.selection, sweep->results); !kept) return Fail(app, kept.error());
  const auto others = Counterparts(**store, *sweep);
  if (!others) return Fail(app, others.error());
  std::optional<compare::GateDecision> gate;
  if (!options.gate.baseline.empty()) {
    auto decided = GateSweep(app, sweep->sweep, options.gate);
    if (!decided) return Fail(app, decided.error());
    gate = *std::move(decided);
  }
  return WriteReport(app, options.output, *format,
                     report::SweepReport{.sweep = sweep->sweep,
                                         .results = sweep->results,
                                         .others = *others,
                                         .gate = gate ? &*gate : nullptr,
                                         .filter = filter,
                                         .made_at = app.clock->Now()});
}

}  // namespace breakwatch::commands
