// `breakwatch compare A B`: applies the gate and prints the comparison.
#include "breakwatch/compare/compare.h"

#include <algorithm>
#include <utility>

#include "breakwatch/core/text.h"
#include "breakwatch/report/compare.h"
#include "commands.h"
#include "compare_sides.h"
#include "remote_history.h"
#include "report_output.h"

namespace breakwatch::commands {
namespace {

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

}  // namespace

Result<std::string> CompareStored(store::SweepStore& store, const Settings& settings,
                                  const api::ComparisonQuery& query) {
  const auto sides = SidesOf(store, settings, query.a, query.b, query.mode, Detail::kCompared);
  if (!sides) return sides.error();
  if (!sides->has_baseline) return Error{ErrorCode::kNotFound, sides->a.label};
  compare::Comparison comparison =
      compare::Compare({sides->a.label, sides->a.results}, {sides->b.label, sides->b.results});
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
  const bool alone = report::ShowsComparisonAlone(*format);
  auto sides = SidesOf(app, **store, options, alone ? Detail::kCompared : Detail::kWhole);
  if (!sides) return Fail(app, sides.error());
  if (auto kept = KeepSelected(app, options.selection, sides->a.results, sides->b.results); !kept)
    return Fail(app, kept.error());
  if (!sides->has_baseline) app.log(Level::kWarn, "no_baseline: there is nothing to compare with; " + sides->a.label);
  if (!sides->other_modes.empty()) {
    app.log(Level::kWarn, "not compared, because only one side has them: results in " + Joined(sides->other_modes));
  }
  const auto gated =
      compare::CompareWithGate({sides->a.label, sides->a.results}, {sides->b.label, sides->b.results}, *rules);
  const bool is_gate = options.fail_on == "worse" || !options.gate.baseline.empty();
  const std::string filter = LineOf(options.selection);
  const int code =
      WriteReport(app, options.output, *format,
                  report::ComparisonReport{.comparison = gated.comparison,
                                           .gate = &gated.gate,
                                           .is_gate = is_gate || !sides->has_baseline,
                                           .results = alone ? std::span<const ModelResult>() : sides->b.results,
                                           .filter = filter,
                                           .all = options.all,
                                           .made_at = app.clock->Now()});
  if (code != kExitOk) return code;
  if (!sides->sweep.empty()) SuggestUpdate(app, options.gate.baseline, sides->sweep, gated.gate);
  return is_gate && sides->has_baseline && gated.gate.failed ? kExitRegressions : kExitOk;
}

}  // namespace breakwatch::commands
