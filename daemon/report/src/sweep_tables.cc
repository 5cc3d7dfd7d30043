// Converts core values to table rows.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/reason_url.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/sweep.h"
#include "contrast.h"
#include "document.h"

namespace breakwatch::report {
namespace {

Cell Number(const std::optional<std::int64_t>& value) { return value ? Cell(*value) : Cell(); }
Cell Count(std::size_t value) { return static_cast<std::int64_t>(value); }
Cell Text(std::string_view text) { return std::string(text); }
Cell MaybeText(const std::string& text) { return text.empty() ? Cell() : Cell(text); }
// The times of captures that never began are missing, not zero.
Cell Seconds(double value, const CaptureResult& capture) { return capture.phase_s.empty() ? Cell() : Cell(value); }
Cell Time(SystemTime time) { return time == SystemTime{} ? Cell() : Cell(FormatTime(time)); }

std::string Place(const BreakSite& site) {
  if (site.file.empty()) return {};
  return site.line > 0 ? site.file + ":" + std::to_string(site.line) : site.file;
}

// The totals of one reason over all models.
struct ReasonRow {
  std::string reason, gb_id, fixability;
  std::int64_t events = 0, sites = 0, most = -1, leverage = 0;
  std::set<std::string> models, families;
  std::string example_model, example_site;

  void Add(const ModelResult& result, const BreakSite& site) {
    events += site.occurrences;
    ++sites;
    if (fixability.empty()) fixability = site.fixability;
    models.insert(result.info.id);
    families.insert(std::string(FamilyName(result.info.family)));
    if (site.occurrences > most) most = site.occurrences, example_model = result.info.id, example_site = Place(site);
  }
  std::int64_t Weight(ReasonOrder order) const {
    switch (order) {
      case ReasonOrder::kEvents:
        return events;
      case ReasonOrder::kSites:
        return sites;
      case ReasonOrder::kModels:
        return static_cast<std::int64_t>(models.size());
      case ReasonOrder::kLeverage:
        return leverage;
    }
    return 0;
  }
};

bool IsOf(const ModelResult& result, std::string_view mode) {
  return result.capture.mode == mode || (result.capture.mode.empty() && mode == kMainMode);
}

// The mode whose reasons are shown, because modes are not summed: the main mode, or the first if it is missing.
std::string SpeakingMode(std::span<const ModelResult> results) {
  const bool main = std::any_of(results.begin(), results.end(), [](const auto& r) { return IsOf(r, kMainMode); });
  return main || results.empty() ? std::string(kMainMode) : results.front().capture.mode;
}

// The title of the mode column; empty if all rows have the same mode.
template <class Rows, class ModeOf>
std::string ModeTitle(const Rows& rows, const ModeOf& mode_of) {
  const bool others = std::any_of(rows.begin(), rows.end(),
                                  [&](const auto& row) { return !mode_of(row).empty() && mode_of(row) != kMainMode; });
  return others ? "MODE" : "";
}

std::string ModeTitle(std::span<const ModelResult> results) {
  return ModeTitle(results, [](const ModelResult& r) { return r.capture.mode; });
}

// Empty without models.file, and if it owns none of these models.
std::string OwnerTitle(std::span<const ModelResult> results) {
  const bool any = std::any_of(results.begin(), results.end(), [](const auto& r) { return !r.owners.empty(); });
  return any ? "OWNER" : "";
}

std::vector<ReasonRow> GatherReasons(std::span<const ModelResult> results) {
  const std::string mode = SpeakingMode(results);
  using Id = std::pair<std::string, std::string>;
  std::map<Id, ReasonRow> reasons;
  for (const ModelResult& result : results) {
    if (!HasNumbers(result.capture.status) || !IsOf(result, mode)) continue;
    std::set<Id> of_model;
    for (const BreakSite& site : result.capture.sites) {
      const Id id{site.reason, site.gb_id};
      of_model.insert(id);
      ReasonRow& row = reasons[id];
      row.reason = site.reason, row.gb_id = site.gb_id;
      row.Add(result, site);
    }
    if (of_model.size() == 1) ++reasons[*of_model.begin()].leverage;
  }
  std::vector<ReasonRow> rows;
  for (auto& [id, row] : reasons) rows.push_back(std::move(row));
  return rows;
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

Table ResultTable(std::span<const ModelResult> results, std::span<const ModelResult> others) {
  std::map<const ModelResult*, std::string> differs;
  for (const Contrast& contrast : ContrastsAmong(results, others)) {
    for (const ModelResult* side : {contrast.base, contrast.other}) {
      std::string& text = differs[side];
      text += (text.empty() ? "" : "; ") + ContrastText(contrast);
    }
  }
  Table table{.title = {},
              .columns = {{"model", "MODEL", false, 48},
                          {"revision", ""},
                          {"family", "FAMILY"},
                          {"mode", ModeTitle(results)},
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
                          {"owner", OwnerTitle(results), false, 32},
                          {"status_detail", "DETAIL", false, 72},
                          {"differs", ""}},
              .rows = {},
              .when_empty = "no models"};
  for (const ModelResult& r : results) {
    const CaptureResult& c = r.capture;
    table.rows.push_back({r.info.id, MaybeText(r.info.sha), Text(FamilyName(r.info.family)), c.mode,
                          Text(StatusName(c.status)), Number(c.graphs), Number(c.breaks), Number(c.break_sites),
                          Number(c.ops_captured), Seconds(c.capture_s, c), Seconds(c.peak_rss_mb, c), r.reused,
                          MaybeText(r.shared_from), MaybeText(r.info.config_source), MaybeText(Joined(r.owners)),
                          c.detail, MaybeText(differs[&r])});
  }
  return table;
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

std::optional<ReasonOrder> ParseReasonOrder(std::string_view name) {
  constexpr std::pair<std::string_view, ReasonOrder> kNames[] = {{"events", ReasonOrder::kEvents},
                                                                 {"sites", ReasonOrder::kSites},
                                                                 {"models", ReasonOrder::kModels},
                                                                 {"leverage", ReasonOrder::kLeverage}};
  for (const auto& [known, order] : kNames) {
    if (known == name) return order;
  }
  return std::nullopt;
}

Table ReasonTable(std::span<const ModelResult> results, ReasonOrder order, std::size_t limit) {
  std::vector<ReasonRow> rows = GatherReasons(results);
  // Ordered by (reason, gb_id) before: a stable sort keeps that order for equal weights.
  std::stable_sort(rows.begin(), rows.end(), [&](const ReasonRow& a, const ReasonRow& b) {
    return std::pair(a.Weight(order), a.events) > std::pair(b.Weight(order), b.events);
  });
  if (limit != 0 && rows.size() > limit) rows.resize(limit);
  const bool any_numbers =
      std::any_of(results.begin(), results.end(), [](const auto& r) { return HasNumbers(r.capture.status); });
  Table table{.title = {},
              .columns = {{"reason", "REASON", false, 56},
                          {"gb_id", "ID"},
                          {"fixability", "FIXABILITY"},
                          {"events", "BREAKS", true},
                          {"sites", "SITES", true},
                          {"models", "MODELS", true},
                          {"leverage", "UNBLOCKED", true},
                          {"families", ""},
                          {"example_model", "EXAMPLE", false, 40},
                          {.name = "example_site", .title = "AT", .widest = 64, .keep_end = true},
                          {"url", ""}},
              .rows = {},
              .when_empty = any_numbers ? "no graph breaks" : "no model has numbers"};
  for (const ReasonRow& row : rows) {
    table.rows.push_back({row.reason, row.gb_id, row.fixability, row.events, row.sites, Count(row.models.size()),
                          row.leverage, Joined(row.families), row.example_model, row.example_site,
                          MaybeText(ReasonUrl(row.gb_id))});
  }
  return table;
}

std::string ReasonsTitle(std::span<const ModelResult> results) {
  return ModeTitle(results).empty() ? "Top reasons" : "Top reasons in mode " + SpeakingMode(results);
}

std::string FailuresTitle(std::span<const ModelResult> results) {
  return ModeTitle(results).empty() ? "Models without numbers" : "Results without numbers";
}

Table FailureTable(std::span<const ModelResult> results) {
  struct Group {
    std::int64_t models = 0;
    const ModelResult* example = nullptr;
  };
  std::map<std::tuple<Status, std::string, std::string>, Group> groups;
  for (const ModelResult& result : results) {
    if (HasNumbers(result.capture.status)) continue;
    Group& group = groups[{result.capture.status, result.capture.detail, result.capture.mode}];
    if (group.models++ == 0) group.example = &result;
  }
  std::vector<Group> rows;
  for (const auto& [id, group] : groups) rows.push_back(group);
  std::stable_sort(rows.begin(), rows.end(), [](const Group& a, const Group& b) { return a.models > b.models; });
  const bool any_suggestion =
      std::any_of(rows.begin(), rows.end(), [](const Group& g) { return !g.example->capture.suggestion.empty(); });
  Table table{.title = {},
              .columns = {{"status", "STATUS"},
                          {"mode", ModeTitle(results)},
                          {"phase", ""},
                          {"status_detail", "DETAIL", false, 96},
                          {"suggestion", any_suggestion ? "SUGGESTION" : "", false, 96},
                          {"models", "MODELS", true},
                          {"example_model", "EXAMPLE", false, 48},
                          {"error", ""}},
              .rows = {},
              .when_empty = "every model has numbers"};
  for (const Group& group : rows) {
    const CaptureResult& c = group.example->capture;
    table.rows.push_back({Text(StatusName(c.status)), c.mode, MaybeText(c.phase), c.detail, MaybeText(c.suggestion),
                          group.models, group.example->info.id, MaybeText(Truncate(ToUtf8(c.error), 2000))});
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
