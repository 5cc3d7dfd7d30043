// `breakwatch compare A B`: resolves the selectors and applies the gate.
#include "breakwatch/compare/compare.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "breakwatch/core/text.h"
#include "breakwatch/report/compare.h"
#include "commands.h"
#include "remote_history.h"
#include "report_output.h"

namespace breakwatch::commands {
namespace {

constexpr int kMaxSweepsSearched = 1000;
constexpr std::string_view kToolchainPrefix = "toolchain:";

struct Selected {
  std::string label;
  std::vector<ModelResult> results;
};

Error Nothing(const std::string& selector) {
  return {ErrorCode::kNotFound, "\"" + selector + "\" matches no result", false, {}};
}

Result<std::set<std::string>> ModelsOf(store::SweepStore& store, const Sweep& sweep) {
  const auto plan = store.LoadPlan(sweep.id);
  if (!plan) return plan.error();
  std::set<std::string> models;
  for (const PlannedModel& planned : plan->models) models.insert(planned.info.id);
  return models;
}

// The newest finished sweep before the latest one that is comparable: same source, same toolchain, and at least half of
// the models. So a sweep of one model by name, or by a further toolchain, is not compared with a scheduled sweep.
Result<Sweep> Previous(store::SweepStore& store) {
  const auto latest = store.FindSweep("latest");
  if (!latest) return latest.error();
  const auto wanted = ModelsOf(store, *latest);
  if (!wanted) return wanted.error();
  const auto sweeps = store.Sweeps(kMaxSweepsSearched);
  if (!sweeps) return sweeps.error();
  // Newest first: sweeps older than the latest come after it.
  const auto at = std::find_if(sweeps->begin(), sweeps->end(), [&](const Sweep& s) { return s.id == latest->id; });
  for (const Sweep& sweep : std::span(at, sweeps->end()).subspan(at == sweeps->end() ? 0 : 1)) {
    if (sweep.state != SweepState::kFinished || sweep.source != latest->source ||
        sweep.toolchain.name != latest->toolchain.name) {
      continue;
    }
    const auto models = ModelsOf(store, sweep);
    if (!models) return models.error();
    const auto shared =
        std::count_if(wanted->begin(), wanted->end(), [&](const auto& m) { return models->contains(m); });
    if (2 * static_cast<std::size_t>(shared) >= wanted->size()) return sweep;
  }
  return Error{ErrorCode::kNotFound, "no finished sweep before the latest one, " + latest->id +
                                         ", has the same source and toolchain and at least half of its models: name "
                                         "one (`breakwatch report --list` lists them)"};
}

Result<Selected> OfSweep(store::SweepStore& store, const std::string& selector) {
  auto sweep = selector == "previous" ? Previous(store) : store.FindSweep(selector);
  if (!sweep) return sweep.error();
  auto results = store.Results(sweep->id);
  if (!results) return results.error();
  return Selected{"sweep " + sweep->id + ", " + sweep->source + ", " + sweep->toolchain.Key(), std::move(*results)};
}

Result<Selected> OfToolchain(store::SweepStore& store, const std::string& name) {
  auto results = store.NewestResults({.model = {}, .mode = {}, .toolchain = name, .revision = {}});
  if (!results) return results.error();
  std::string key = name;
  for (const ModelResult& result : *results) {
    if (!result.capture.toolchain.torch.empty()) key = result.capture.toolchain.Key();
  }
  return Selected{"newest results of toolchain " + key, std::move(*results)};
}

Result<Selected> OfCommit(store::SweepStore& store, const Settings& settings, const std::string& name,
                          const std::string& revision) {
  const auto model = FindModel(store, name);
  if (!model) return model.error();
  if (revision.size() < 4) {
    return Error{ErrorCode::kUsage, "a commit needs at least four digits: " + name + "@" + revision};
  }
  auto results = store.NewestResults({.model = *model, .mode = {}, .toolchain = {}, .revision = revision});
  if (!results) return results.error();
  // Keeps one result per model, preferably that of the primary toolchain.
  std::stable_partition(results->begin(), results->end(), [&](const ModelResult& result) {
    return result.capture.toolchain.name != settings.capture.toolchain;
  });
  return Selected{*model + " at " + (results->empty() ? revision : results->back().info.sha), std::move(*results)};
}

// Keeps the requested mode. Without a request it keeps eval, or the first mode if there is no eval.
void KeepMode(std::vector<ModelResult>& results, std::string mode) {
  if (results.empty()) return;
  const auto has = [&](const std::string& wanted) {
    return std::any_of(results.begin(), results.end(), [&](const auto& r) { return r.capture.mode == wanted; });
  };
  if (mode.empty()) mode = has("eval") ? "eval" : results.front().capture.mode;
  std::erase_if(results, [&](const ModelResult& result) { return result.capture.mode != mode; });
}

// Results in all modes, or in one if `mode` is given.
Result<Selected> SelectModes(store::SweepStore& store, const Settings& settings, const std::string& selector,
                             const std::string& mode) {
  const std::size_t at = selector.rfind('@');
  auto selected = selector.starts_with(kToolchainPrefix) ? OfToolchain(store, selector.substr(kToolchainPrefix.size()))
                  : at != std::string::npos ? OfCommit(store, settings, selector.substr(0, at), selector.substr(at + 1))
                                            : OfSweep(store, selector);
  if (!selected) return selected;
  if (!mode.empty()) KeepMode(selected->results, mode);
  if (selected->results.empty()) return Nothing(selector + (mode.empty() ? "" : " in mode " + mode));
  return selected;
}

// Results in one mode.
Result<Selected> Select(store::SweepStore& store, const Settings& settings, const std::string& selector,
                        const std::string& mode) {
  auto selected = SelectModes(store, settings, selector, mode);
  if (selected) KeepMode(selected->results, mode);
  return selected;
}

struct Sides {
  Selected a, b;
  bool has_baseline = true;  // false: the first build
  std::string sweep;         // the id of B, if it was compared with a baseline file and is a sweep
};

// With --baseline the only selector is B's.
Result<void> CheckSelectors(const CompareOptions& options) {
  const bool has_baseline = !options.gate.baseline.empty();
  if (has_baseline && !options.b.empty()) {
    return Error{ErrorCode::kUsage, "--baseline is A: name only the new results, or nothing for the latest sweep"};
  }
  if (!has_baseline && options.b.empty()) {
    return Error{ErrorCode::kUsage, "name old and new results, for example `breakwatch compare previous latest`"};
  }
  return {};
}

// A line of a baseline has no facts of its model but the id. If --filter is given, lines of models without a new result
// get those of the newest stored one: a filter by family must not hide that a model is gone.
Result<void> KnowGoneModels(const App& app, store::SweepStore& store, std::vector<ModelResult>& lines,
                            std::span<const ModelResult> results) {
  std::set<std::string> models, unknown;
  for (const ModelResult& result : results) models.insert(result.info.id);
  for (ModelResult& line : lines) {
    if (models.contains(line.info.id)) continue;
    const auto newest = ResultsOf(store, app.settings(), line.info.id);
    if (!newest) return newest.error();
    newest->empty() ? (void)unknown.insert(line.info.id) : (void)(line.info = newest->front().info);
  }
  if (!unknown.empty()) {
    app.log(Level::kWarn, Counted(unknown.size(), "model") + " of the baseline, such as " + *unknown.begin() +
                              ", have no stored result: --filter knows only their ids");
  }
  return {};
}

Result<Sides> SidesOfBaseline(const App& app, store::SweepStore& store, const CompareOptions& options) {
  const std::string selector = options.a.empty() ? "latest" : options.a;
  auto baseline = ReadBaseline(options.gate.baseline);
  if (!baseline) return baseline.error();
  const auto sweep = store.FindSweep(selector);  // other selectors take models by name
  auto b = SelectModes(store, app.settings(), selector, options.mode);
  if (!b) return b.error();
  Selected a{"baseline " + options.gate.baseline, {}};
  if (*baseline && options.mode.empty()) WarnOfOtherModes(app, options.gate.baseline, **baseline, b->results);
  if (*baseline) a.results = LinesFor(**std::move(baseline), b->results, sweep && sweep->ranked);
  if (!options.selection.empty()) {
    if (auto known = KnowGoneModels(app, store, a.results, b->results); !known) return known.error();
  }
  return Sides{std::move(a), *std::move(b), baseline->has_value(), sweep ? sweep->id : ""};
}

Result<Sides> SidesOf(const App& app, store::SweepStore& store, const CompareOptions& options) {
  if (!options.gate.baseline.empty()) return SidesOfBaseline(app, store, options);
  const Settings& settings = app.settings();
  auto b = Select(store, settings, options.b, options.mode);
  if (!b) return b.error();
  auto a = Select(store, settings, options.a, options.mode);
  if (a) return Sides{*std::move(a), *std::move(b), true, {}};
  // The first build has no sweep before it. That is no failure.
  if (options.a != "previous" || a.error().code != ErrorCode::kNotFound) return a.error();
  return Sides{{a.error().message, {}}, *std::move(b), false, {}};
}

}  // namespace

Result<std::string> CompareStored(store::SweepStore& store, const Settings& settings,
                                  const api::ComparisonQuery& query) {
  const auto a = Select(store, settings, query.a, query.mode);
  if (!a) return a.error();
  const auto b = Select(store, settings, query.b, query.mode);
  if (!b) return b.error();
  compare::Comparison comparison = compare::Compare({a->label, a->results}, {b->label, b->results});
  if (!query.all) {
    std::erase_if(comparison.models, [](const auto& model) { return model.verdict == compare::Verdict::kSame; });
  }
  return report::RenderComparison({.comparison = comparison, .all = query.all}, report::Format::kJson);
}

int RunCompare(App& app, const CompareOptions& options) {
  const auto format = ReportFormatOf(app, options.format);
  if (!format) return Fail(app, format.error());
  if (auto checked = CheckSelectors(options); !checked) return Fail(app, checked.error());
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  const auto rules = RulesOf(app, options.gate);
  if (!rules) return Fail(app, rules.error());
  auto sides = SidesOf(app, **store, options);
  if (!sides) return Fail(app, sides.error());
  if (auto kept = KeepSelected(app, options.selection, sides->a.results, sides->b.results); !kept)
    return Fail(app, kept.error());
  if (!sides->has_baseline) app.log(Level::kWarn, "no_baseline: there is nothing to compare with; " + sides->a.label);
  const auto gated =
      compare::CompareWithGate({sides->a.label, sides->a.results}, {sides->b.label, sides->b.results}, *rules);
  const bool is_gate = options.fail_on == "worse" || !options.gate.baseline.empty();
  const std::string filter = LineOf(options.selection);
  const int code = WriteReport(app, options.output, *format,
                               report::ComparisonReport{.comparison = gated.comparison,
                                                        .gate = &gated.gate,
                                                        .is_gate = is_gate || !sides->has_baseline,
                                                        .results = sides->b.results,
                                                        .filter = filter,
                                                        .all = options.all,
                                                        .made_at = app.clock->Now()});
  if (code != kExitOk) return code;
  if (!sides->sweep.empty()) SuggestUpdate(app, options.gate.baseline, sides->sweep, gated.gate);
  return is_gate && sides->has_baseline && gated.gate.failed ? kExitRegressions : kExitOk;
}

}  // namespace breakwatch::commands
