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
#include "sweep_totals.h"
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

std::string Tables(const SweepTotals& totals, const Table& differences, Style style) {
  const Table failures = totals.Failures();
  std::string out;
  if (const std::string note = totals.OpsNote(); !note.empty()) out += note + "\n";
  if (!differences.rows.empty()) out += "\n" + Render(Titled(differences, kDifferences), Format::kText, style);
  out += "\n" +
         Render(Titled(totals.Reasons(ReasonOrder::kEvents, kTopReasons), totals.ReasonsTitle()), Format::kText, style);
  if (!failures.rows.empty()) out += "\n" + Render(Titled(failures, totals.FailuresTitle()), Format::kText, style);
  return out;
}

std::string SweepText(const SweepReport& report, Style style) {
  const std::span<const ModelResult> results = report.results;
  return Render(ResultTable(results), Format::kText, style) +
         Tables(TotalsOf(results), DifferenceTable(results, report.others), style) + "\n" +
         OneLine(SweepSummary(report.sweep, report.filter, results.size())) + "\n";
}

Json Frame(const Sweep& sweep, std::string_view filter, Json results, const Table& differences,
           const SweepTotals& totals) {
  return {{"format", "breakwatch-sweep"},
          {"version", kDocumentVersion},
          {"sweep", AsJson(ToJson(sweep))},
          {"filter", filter.empty() ? Json() : Json(std::string(filter))},
          {"results", std::move(results)},
          {"differences", RowsAsJson(differences)},
          {"reasons", RowsAsJson(totals.Reasons(ReasonOrder::kEvents, 0))},
          {"failures", RowsAsJson(totals.Failures())}};
}

std::string SweepJson(const SweepReport& report) {
  Json lines = Json::array();
  for (const ModelResult& result : report.results) lines.push_back(AsJson(ToJson(result)));
  Json document = Frame(report.sweep, report.filter, std::move(lines), DifferenceTable(report.results, report.others),
                        TotalsOf(report.results));
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

std::string TextAfterModels(const StreamedSweep& sweep, const SweepTotals& totals, Style style) {
  return Tables(totals, Table{}, style) + "\n" + OneLine(SweepSummary(sweep.sweep, sweep.filter, totals.results())) +
         "\n";
}

std::string SweepFrame(const StreamedSweep& sweep, const SweepTotals& totals) {
  return Dump(Frame(sweep.sweep, sweep.filter, Json::array(), Table{}, totals));
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

std::string SweepSummary(const Sweep& sweep, std::string_view filter, std::size_t results) {
  const std::string text = SummaryLine(sweep);
  if (filter.empty()) return text;
  return text + "; selected: " + Counted(results, "result") + ", " + std::string(filter);
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
