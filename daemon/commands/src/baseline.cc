// `breakwatch baseline update | show | diff`.
#include "breakwatch/compare/baseline.h"

#include "breakwatch/core/text.h"
#include "breakwatch/report/compare.h"
#include "breakwatch/report/sweep.h"
#include "commands.h"
#include "gate.h"

namespace breakwatch::commands {
namespace {

struct SweepResults {
  Sweep sweep;
  std::vector<ModelResult> results;
};

Result<SweepResults> ResultsOfSweep(const App& app, const std::string& id) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return store.error();
  auto sweep = (*store)->FindSweep(id);
  if (!sweep) return sweep.error();
  auto results = ComparedResults(**store, sweep->id);
  if (!results) return results.error();
  return SweepResults{*std::move(sweep), *std::move(results)};
}

Result<std::vector<ModelResult>> ExistingBaseline(const std::string& path) {
  auto baseline = ReadBaseline(path);
  if (!baseline) return baseline.error();
  if (!*baseline) {
    return Error{ErrorCode::kNotFound,
                 path + " does not exist: `breakwatch baseline update " + ShellQuoted(path) + "` writes it"};
  }
  return **std::move(baseline);
}

}  // namespace

int RunBaselineUpdate(App& app, const BaselineOptions& options) {
  const auto swept = ResultsOfSweep(app, options.sweep);
  if (!swept) return Fail(app, swept.error());
  auto old = ReadBaseline(options.path);
  if (!old) return Fail(app, old.error());
  const std::vector<ModelResult> before = *old ? **std::move(old) : std::vector<ModelResult>();
  // A sweep of models by name does not cover the others.
  const auto merged = compare::UpdateBaseline(before, swept->results, options.keep || !swept->sweep.ranked);
  if (merged.empty()) {
    return Fail(app, {ErrorCode::kNotFound, "sweep " + swept->sweep.id + " has no result for a baseline"});
  }
  if (auto written = ReplaceFile(options.path, compare::BaselineText(merged)); !written) {
    return Fail(app, written.error());
  }
  const auto gated = compare::CompareWithGate({"before", before}, {"after", merged}, {});
  if (app.json) return Print(app, report::RenderGate(gated.gate, report::Format::kJson)), kExitOk;
  Print(app, options.path + ": " + std::to_string(merged.size()) + " lines, from sweep " + swept->sweep.id + "\n" +
                 (before.empty() ? "" : report::ComparisonSummary(gated.comparison) + "\n"));
  return kExitOk;
}

int RunBaselineShow(App& app, const BaselineOptions& options) {
  const auto baseline = ExistingBaseline(options.path);
  if (!baseline) return Fail(app, baseline.error());
  Print(app, report::Render(report::ResultTable(*baseline), FormatOf(app), StyleOf(app)));
  return kExitOk;
}

int RunBaselineDiff(App& app, const BaselineOptions& options) {
  auto baseline = ExistingBaseline(options.path);
  if (!baseline) return Fail(app, baseline.error());
  const auto swept = ResultsOfSweep(app, options.sweep);
  if (!swept) return Fail(app, swept.error());
  const auto lines = LinesFor(*std::move(baseline), swept->results, swept->sweep.ranked);
  const auto comparison = compare::Compare({options.path, lines}, {"sweep " + swept->sweep.id, swept->results});
  Print(app, report::RenderComparison({.comparison = comparison}, FormatOf(app), StyleOf(app)));
  return kExitOk;
}

}  // namespace breakwatch::commands
