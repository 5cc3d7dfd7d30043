// The complete documents of a sweep and of a plan.
#include <algorithm>
#include <array>
#include <chrono>

#include "breakwatch/core/json.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/compare.h"
#include "breakwatch/report/sweep.h"
#include "document.h"
#include "escape.h"
#include "gate_text.h"
#include "segments.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kTopReasons = 15;
constexpr const char* kDifferences = "Differences between modes and calls";

Table Titled(Table table, const std::string& title) {
  table.title = title;
  return table;
}

Json AsJson(const std::string& text) { return Json::parse(text, nullptr, false); }

std::string SweepText(const SweepReport& report, Style style) {
  const std::span<const ModelResult> results = report.results;
  const Table failures = FailureTable(results), differences = DifferenceTable(results, report.others);
  std::string out = Render(ResultTable(results), Format::kText, style);
  if (const std::string note = OpsNote(results); !note.empty()) out += note + "\n";
  if (!differences.rows.empty()) out += "\n" + Render(Titled(differences, kDifferences), Format::kText, style);
  out += "\n" + Render(Titled(ReasonTable(results, ReasonOrder::kEvents, kTopReasons), ReasonsTitle(results)),
                       Format::kText, style);
  if (!failures.rows.empty()) out += "\n" + Render(Titled(failures, FailuresTitle(results)), Format::kText, style);
  return out + "\n" + OneLine(SweepSummary(report)) + "\n";
}

std::string SweepJson(const SweepReport& report) {
  Json lines = Json::array();
  for (const ModelResult& result : report.results) lines.push_back(AsJson(ToJson(result)));
  Json document = {{"format", "breakwatch-sweep"},
                   {"version", kDocumentVersion},
                   {"sweep", AsJson(ToJson(report.sweep))},
                   {"filter", report.filter.empty() ? Json() : Json(std::string(report.filter))},
                   {"results", std::move(lines)},
                   {"differences", RowsAsJson(DifferenceTable(report.results, report.others))},
                   {"reasons", RowsAsJson(ReasonTable(report.results))},
                   {"failures", RowsAsJson(FailureTable(report.results))}};
  if (report.gate != nullptr) document["gate"] = GateJson(*report.gate);
  return Dump(document);
}

std::string CountActions(const Plan& plan) {
  constexpr std::array kActions = {Action::kCapture, Action::kShare, Action::kReuse, Action::kSkip};
  std::string text = Counted(plan.models.size(), "model") + ":";
  const char* separator = " ";
  for (const Action action : kActions) {
    std::size_t count = 0;
    for (const PlannedModel& model : plan.models) count += model.action == action ? 1 : 0;
    if (count == 0) continue;
    text += separator + std::to_string(count) + " " + std::string(ActionName(action));
    separator = ", ";
  }
  return plan.models.empty() ? "no models" : text;
}

}  // namespace

std::string OpsNote(std::span<const ModelResult> results) {
  const bool mixed =
      std::any_of(results.begin(), results.end(), [](const ModelResult& r) { return HasOpsOfAnotherRun(r.capture); });
  return mixed ? "OPS of models captured at full depth come from the reduced run; all other columns come from the "
                 "full-depth run."
               : "";
}

std::string SummaryLine(const Sweep& sweep) {
  int total = 0, with_numbers = 0;
  std::string statuses;
  // In the order of the documentation, which differs from the map's order.
  for (const Status status : AllStatuses()) {
    const auto found = sweep.statuses.find(std::string(StatusName(status)));
    if (found == sweep.statuses.end() || found->second == 0) continue;
    total += found->second;
    with_numbers += HasNumbers(status) ? found->second : 0;
    statuses += (statuses.empty() ? "" : ", ") + std::to_string(found->second) + " " + found->first;
  }
  const std::size_t planned = static_cast<std::size_t>(std::max(sweep.planned, total));
  // With several modes the results are counted, because a model has one result per mode.
  const bool one_mode = sweep.modes.size() < 2;
  const bool calls = std::any_of(sweep.modes.begin(), sweep.modes.end(),
                                 [](const auto& mode) { return !SplitMode(mode.first).call.empty(); });
  const std::string what = one_mode ? Counted(planned, "model")
                                    : Counted(planned, "result") + " in " + std::to_string(sweep.modes.size()) +
                                          (calls ? " modes and calls" : " modes");
  std::string text = what + (statuses.empty() ? "" : ": " + statuses);
  text += "; " + std::to_string(with_numbers) + " of " + std::to_string(planned) + " have numbers";
  return sweep.complete ? text : text + "; incomplete";
}

std::string SweepSummary(const SweepReport& report) {
  const std::string text = SummaryLine(report.sweep);
  if (report.filter.empty()) return text;
  return text + "; selected: " + Counted(report.results.size(), "result") + ", " + std::string(report.filter);
}

std::string SweepInText(const SweepReport& report, Format format, Style style) {
  if (format == Format::kJson) return SweepJson(report);
  if (format == Format::kCsv) return Render(ResultTable(report.results, report.others), format);
  return SweepText(report, style);
}

std::string RenderPlan(const Plan& plan, Format format, Style style) {
  const Table table = PlanTable(plan);
  if (format == Format::kCsv) return Render(table, format);
  if (format == Format::kJson) {
    Json fields = AsJson(ToJson(plan));
    fields.erase("models");
    return Dump({{"plan", std::move(fields)}, {"models", RowsAsJson(table)}});
  }
  const std::string counts = CountActions(plan);
  return Render(table, format, style) + "\n" + (format == Format::kMarkdown ? MarkdownText(counts) : counts) + "\n";
}

}  // namespace breakwatch::report
