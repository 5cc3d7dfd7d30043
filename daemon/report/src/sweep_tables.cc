// Converts core values to table rows.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/sweep.h"
#include "contrast.h"
#include "document.h"
#include "sweep_totals.h"

namespace breakwatch::report {
namespace {

Cell Number(const std::optional<std::int64_t>& value) { return value ? Cell(*value) : Cell(); }
Cell Count(std::size_t value) { return static_cast<std::int64_t>(value); }
Cell Text(std::string_view text) { return std::string(text); }
Cell MaybeText(const std::string& text) { return text.empty() ? Cell() : Cell(text); }
// The times of captures that never began are missing, not zero.
Cell Seconds(double value, const CaptureResult& capture) { return capture.phase_s.empty() ? Cell() : Cell(value); }
Cell Time(SystemTime time) { return time == SystemTime{} ? Cell() : Cell(FormatTime(time)); }

// The title of the mode column; empty if all rows have the same mode.
template <class Rows, class ModeOf>
std::string ModeTitle(const Rows& rows, const ModeOf& mode_of) {
  const bool others = std::any_of(rows.begin(), rows.end(),
                                  [&](const auto& row) { return !mode_of(row).empty() && mode_of(row) != kMainMode; });
  return others ? "MODE" : "";
}

// Empty until a model has ended.
std::string ModesOf(const Sweep& sweep) {
  std::set<std::string> modes;
  for (const auto& [mode, statuses] : sweep.modes) modes.insert(mode);
  return Joined(modes);
}

int CountStatuses(const Sweep& sweep, std::string_view prefix) {
  int count = 0;
  for (const auto& [status, models] : sweep.statuses) count += status.starts_with(prefix) ? models : 0;
  return count;
}

// The contrasts in which at least one side is in `results`.
std::vector<Contrast> ContrastsAmong(std::span<const ModelResult> results, std::span<const ModelResult> others) {
  std::vector<const ModelResult*> all;
  for (const ModelResult& result : results) all.push_back(&result);
  for (const ModelResult& other : others) all.push_back(&other);
  std::vector<Contrast> contrasts = ContrastsOf(all);
  const std::set<const ModelResult*> own(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(results.size()));
  std::erase_if(contrasts, [&](const Contrast& c) { return !own.contains(c.base) && !own.contains(c.other); });
  return contrasts;
}

double SecondsBetween(SystemTime from, SystemTime to) { return std::chrono::duration<double>(to - from).count(); }

}  // namespace

std::vector<Cell> ResultRow(const ModelResult& r, const std::string& differs) {
  const CaptureResult& c = r.capture;
  return {r.info.id,
          MaybeText(r.info.sha),
          Text(FamilyName(r.info.family)),
          c.mode,
          Text(StatusName(c.status)),
          Number(c.graphs),
          Number(c.breaks),
          Number(c.break_sites),
          Number(c.ops_captured),
          Seconds(c.capture_s, c),
          Seconds(c.peak_rss_mb, c),
          r.reused,
          MaybeText(r.shared_from),
          MaybeText(r.info.config_source),
          MaybeText(Joined(r.owners)),
          c.detail,
          MaybeText(differs)};
}

Table ResultTableOf(const SweepTotals& totals, std::vector<std::vector<Cell>> rows) {
  return {.title = {},
          .columns = {{"model", "MODEL", false, 48},
                      {"revision", ""},
                      {"family", "FAMILY"},
                      {"mode", totals.ModeTitle()},
                      {"status", "STATUS"},
                      {"graphs", "GRAPHS", true},
                      {"breaks", "BREAKS", true},
                      {"break_sites", "SITES", true},
                      {"ops_captured", "OPS", true},
                      {"capture_s", "TIME/S", true},
                      {"peak_rss_mb", "", true},
                      {"reused", ""},
                      {"shared_from", ""},
                      {"config_source", "CONFIG"},
                      {"owner", totals.has_owners() ? "OWNER" : "", false, 32},
                      {"status_detail", "DETAIL", false, 72},
                      {"differs", ""}},
          .rows = std::move(rows),
          .when_empty = "no models"};
}

Table ResultTable(std::span<const ModelResult> results, std::span<const ModelResult> others) {
  std::map<const ModelResult*, std::string> differs;
  for (const Contrast& contrast : ContrastsAmong(results, others)) {
    for (const ModelResult* side : {contrast.base, contrast.other}) {
      std::string& text = differs[side];
      text += (text.empty() ? "" : "; ") + ContrastText(contrast);
    }
  }
  std::vector<std::vector<Cell>> rows;
  for (const ModelResult& r : results) rows.push_back(ResultRow(r, differs[&r]));
  return ResultTableOf(TotalsOf(results), std::move(rows));
}

Table DifferenceTable(std::span<const ModelResult> results, std::span<const ModelResult> others) {
  Table table{.title = {},
              .columns = {{"model", "MODEL", false, 48},
                          {"mode", "MODE"},
                          {"other_mode", "OTHER"},
                          {"status", ""},
                          {"other_status", ""},
                          {"breaks", "BREAKS", true},
                          {"other_breaks", "OTHER", true},
                          {"break_sites", "SITES", true},
                          {"other_break_sites", "OTHER", true},
                          {"text", "DIFFERENCE", false, 160}},
              .rows = {},
              .when_empty = "no result differs by mode or call"};
  for (const Contrast& contrast : ContrastsAmong(results, others)) {
    const CaptureResult &a = contrast.base->capture, &b = contrast.other->capture;
    table.rows.push_back({contrast.base->info.id, a.mode, b.mode, Text(StatusName(a.status)),
                          Text(StatusName(b.status)), Number(a.breaks), Number(b.breaks), Number(a.break_sites),
                          Number(b.break_sites), ContrastText(contrast)});
  }
  return table;
}

Table SweepsTable(std::span<const Sweep> sweeps) {
  Table table{.title = {},
              .columns = {{"sweep_id", "SWEEP"},
                          {"trigger", "TRIGGER"},
                          {"source", "SOURCE", false, 40},
                          {"toolchain", "TOOLCHAIN"},
                          {"modes", "MODES", false, 32},
                          {"state", "STATE"},
                          {"complete", "COMPLETE"},
                          {"started_at", ""},
                          {"duration_s", "TIME/S", true},
                          {"planned", "MODELS", true},
                          {"full_graph", "FULL GRAPH", true},
                          {"graph_breaks", "GRAPH BREAKS", true},
                          {"failed", "FAILED", true},
                          {"skipped", "SKIPPED", true},
                          {"torch", "TORCH"}},
              .rows = {},
              .when_empty = "no sweeps yet"};
  for (const Sweep& s : sweeps) {
    const int whole = CountStatuses(s, "full_graph"), broken = CountStatuses(s, "graph_breaks");
    const int skipped = CountStatuses(s, "skipped_");
    const int failed = CountStatuses(s, "") - whole - broken - skipped;
    const Cell duration = s.finished_at == SystemTime{} ? Cell() : Cell(SecondsBetween(s.started_at, s.finished_at));
    table.rows.push_back({s.id, Text(SweepTriggerName(s.trigger)), s.source, s.toolchain.name, MaybeText(ModesOf(s)),
                          Text(SweepStateName(s.state)), s.complete, Time(s.started_at), duration,
                          Count(static_cast<std::size_t>(s.planned)), Cell(std::int64_t{whole}),
                          Cell(std::int64_t{broken}), Cell(std::int64_t{failed}), Cell(std::int64_t{skipped}),
                          s.toolchain.torch});
  }
  return table;
}

Table PlanTable(const Plan& plan) {
  Table table{.title = {},
              .columns = {{"rank", "RANK", true},
                          {"model", "MODEL", false, 56},
                          {"revision", ""},
                          {"family", "FAMILY"},
                          {"mode", ModeTitle(plan.models, [](const PlannedModel& m) { return m.mode; })},
                          {"action", "ACTION"},
                          {"reason", "REASON", false, 56},
                          {"status", "STATUS"},
                          {"status_detail", "DETAIL", false, 72},
                          {"config_source", "CONFIG"},
                          {"structure", ""}},
              .rows = {},
              .when_empty = "no models"};
  for (const PlannedModel& m : plan.models) {
    table.rows.push_back({m.info.rank == 0 ? Cell() : Cell(std::int64_t{m.info.rank}), m.info.id, MaybeText(m.info.sha),
                          Text(FamilyName(m.info.family)), m.mode, Text(ActionName(m.action)),
                          m.shared_from.empty() ? m.reason : m.reason + " (with " + m.shared_from + ")",
                          m.status ? Text(StatusName(*m.status)) : Cell(), MaybeText(m.detail),
                          MaybeText(m.info.config_source), MaybeText(m.structure)});
  }
  return table;
}

}  // namespace breakwatch::report
