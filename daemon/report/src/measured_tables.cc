// The tables of profiles.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "breakwatch/core/text.h"
#include "breakwatch/report/measured.h"
#include "measured_cells.h"

namespace breakwatch::report {
namespace {

// "graph 2", "Python", "Python after break 1".
std::string NameOf(const MeasuredSegment& segment, const CaptureResult& capture) {
  if (segment.is_graph) return "graph " + std::to_string(segment.graph);
  for (std::size_t i = 0; i < capture.sites.size(); ++i) {
    if (capture.sites[i].site_id == segment.ended_by) return "Python after break " + std::to_string(i + 1);
  }
  return "Python";
}

// Why Python code runs between two graphs.
std::string ReasonOf(const MeasuredSegment& segment, const CaptureResult& capture) {
  const BreakSite* site = segment.is_graph ? nullptr : SiteOf(capture, segment.ended_by);
  return site == nullptr ? "" : site->reason;
}

std::string PlaceOf(const MeasuredSegment& segment, const CaptureResult& capture) {
  if (!segment.file.empty()) return PlaceText(segment.file, segment.line);
  const BreakSite* site = SiteOf(capture, segment.ended_by);
  return site == nullptr || segment.is_graph ? "" : PlaceText(site->file, site->line);
}

}  // namespace

std::vector<std::string> BackendsOf(const MeasuredCells& cells) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (cells.contains(std::string(name))) names.emplace_back(name);
  };
  add(kPlain);
  for (const std::string_view backend : kBackends) add(backend);
  for (const auto& [name, cell] : cells) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

const BreakSite* SiteOf(const CaptureResult& capture, const std::string& site_id) {
  const auto site = std::find_if(capture.sites.begin(), capture.sites.end(),
                                 [&](const BreakSite& one) { return one.site_id == site_id; });
  return site == capture.sites.end() ? nullptr : &*site;
}

std::string PlaceText(const std::string& file, int line) {
  return line > 0 && !file.empty() ? file + ":" + std::to_string(line) : file;
}

std::string DifferenceText(const std::optional<LatencyDifference>& difference) {
  if (!difference) return {};
  if (!difference->significant) return "no difference";
  const bool faster = difference->ratio < 1;
  char text[64];
  std::snprintf(text, sizeof text, "%.2fx %s", faster ? 1 / difference->ratio : difference->ratio,
                faster ? "faster" : "slower");
  return text;
}

Table SegmentCostTable(const MeasuredProfile& profile, const CaptureResult& capture) {
  Table table{.title = {},
              .columns = {{"segment", "", true},
                          {"kind", ""},
                          {"graph", "", true},
                          {"name", "SEGMENT", false, 32},
                          {.name = "place", .title = "AT", .widest = 40, .keep_end = true},
                          {"file", ""},
                          {"line", "", true},
                          {"function", ""},
                          {"site_id", ""},
                          {"reason", "BREAK", false, 40},
                          {"ops", "OPS", true},
                          {"calls", "CALLS", true},
                          {"backend", "BACKEND"},
                          {"runs", "RUNS", true},
                          {.name = "mean_ms", .title = "MEAN ms", .right = true, .decimals = 3},
                          {.name = "median_ms", .title = "MEDIAN ms", .right = true, .decimals = 3},
                          {.name = "low_ms", .title = "", .right = true, .decimals = 3},
                          {.name = "high_ms", .title = "", .right = true, .decimals = 3},
                          {.name = "p95_ms", .title = "P95 ms", .right = true, .decimals = 3},
                          {.name = "share", .title = "SHARE", .right = true, .decimals = 2},
                          {"failures", "FAILURES", true},
                          {"status", "STATUS"},
                          {"detail", "DETAIL", false, 48}},
              .rows = {},
              .when_empty = "no segment was measured"};
  for (const MeasuredSegment& s : profile.segments) {
    const std::string name = NameOf(s, capture), reason = ReasonOf(s, capture), place = PlaceOf(s, capture);
    for (const std::string& backend : BackendsOf(s.cells)) {
      const MeasuredCell& c = s.cells.at(backend);
      table.rows.push_back({std::int64_t{s.index},
                            std::string(s.is_graph ? "graph" : "python"),
                            s.is_graph ? Cell(std::int64_t{s.graph}) : Cell(),
                            name,
                            TextOrNone(place),
                            TextOrNone(s.file),
                            s.line > 0 ? Cell(std::int64_t{s.line}) : Cell(),
                            TextOrNone(s.function),
                            TextOrNone(s.ended_by),
                            TextOrNone(reason),
                            s.ops ? Cell(*s.ops) : Cell(),
                            s.calls,
                            backend,
                            c.runs,
                            Millis(c.mean_s),
                            Millis(c.median_s),
                            Millis(c.low_s),
                            Millis(c.high_s),
                            Millis(c.p95_s),
                            Number(c.share),
                            c.failures,
                            c.status,
                            TextOrNone(c.detail)});
    }
  }
  return table;
}

Table TotalCostTable(const MeasuredProfile& profile) {
  Table table{.title = {},
              .columns = {{"backend", "BACKEND"},
                          {.name = "graphs_ms", .title = "GRAPHS ms", .right = true, .decimals = 3},
                          {.name = "python_ms", .title = "PYTHON ms", .right = true, .decimals = 3},
                          {.name = "median_ms", .title = "TOTAL ms", .right = true, .decimals = 3},
                          {.name = "low_ms", .title = "LOW ms", .right = true, .decimals = 3},
                          {.name = "high_ms", .title = "HIGH ms", .right = true, .decimals = 3},
                          {.name = "p95_ms", .title = "P95 ms", .right = true, .decimals = 3},
                          {"runs", "RUNS", true},
                          {"failures", "FAILURES", true},
                          {.name = "compile_s", .title = "COMPILE s", .right = true, .decimals = 2},
                          {.name = "throughput", .title = "PER SECOND", .right = true, .decimals = 1},
                          {"ratio", "", true},
                          {"p_value", "", true},
                          {"against_plain", "AGAINST PLAIN"},
                          {"status", "STATUS"},
                          {"detail", "DETAIL", false, 48}},
              .rows = {},
              .when_empty = "no backend was measured"};
  const auto plain = profile.totals.find(std::string(kPlain));
  for (const std::string& backend : BackendsOf(profile.totals)) {
    const MeasuredCell& c = profile.totals.at(backend);
    const bool is_base = plain == profile.totals.end() || backend == kPlain;
    const auto difference = is_base ? std::nullopt : CompareLatency(plain->second, c);
    table.rows.push_back({backend, Millis(c.graphs_s), Millis(c.python_s), Millis(c.median_s), Millis(c.low_s),
                          Millis(c.high_s), Millis(c.p95_s), c.runs, c.failures, Number(c.compile_s),
                          Number(c.throughput), difference ? Cell(difference->ratio) : Cell(),
                          difference ? Cell(difference->p_value) : Cell(), TextOrNone(DifferenceText(difference)),
                          c.status, TextOrNone(c.detail)});
  }
  return table;
}

namespace {

// Whether the model as one graph is known to take another time than in pieces. Unknown without intervals: then it is.
bool FusionMatters(const MeasuredProfile& profile, const BreakCost& cost) {
  const auto pieces = profile.totals.find(cost.backend), whole = profile.whole.cells.find(cost.backend);
  if (pieces == profile.totals.end() || whole == profile.whole.cells.end()) return true;
  const auto difference = CompareLatency(pieces->second, whole->second);
  return !difference || difference->significant;
}

std::string FusionText(const MeasuredProfile& profile, const BreakCost& cost) {
  if (!cost.fusion_s) return {};
  if (!FusionMatters(profile, cost)) return "no difference";
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", *cost.fusion_s * kMillis);
  return text;
}

}  // namespace

Table BreakCostTable(const MeasuredProfile& profile, const CaptureResult& capture) {
  Table table{.title = {},
              .columns = {{"site_id", ""},
                          {"reason", "BREAK", false, 48},
                          {"gb_id", "ID"},
                          {.name = "place", .title = "AT", .widest = 48, .keep_end = true},
                          {"occurrences", "EVENTS", true},
                          {.name = "between_ms", .title = "BETWEEN ms", .right = true, .decimals = 3},
                          {.name = "fusion_ms", .title = "", .right = true, .decimals = 3},
                          {"fusion", "FUSION ms", true},
                          {"shared_with", "SHARED WITH", true},
                          {"why_not", "NOT MEASURED BECAUSE", false, 60}},
              .rows = {},
              .when_empty = "no graph breaks"};
  for (const BreakCost& cost : profile.break_costs) {
    const BreakSite* site = SiteOf(capture, cost.site_id);
    table.rows.push_back({cost.site_id, cost.reason, cost.gb_id,
                          site == nullptr ? Cell() : TextOrNone(PlaceText(site->file, site->line)), cost.occurrences,
                          Millis(cost.between_s), Millis(cost.fusion_s), TextOrNone(FusionText(profile, cost)),
                          cost.shared_with, TextOrNone(cost.why_not)});
  }
  return table;
}

Table PriceTable(const MeasuredProfile& profile, const MeasureOptions& options, const Prices& prices) {
  Table table{
      .title = {},
      .columns = {{"machine", "MACHINE"},
                  {"backend", "BACKEND"},
                  {.name = "price_per_hour", .title = "PRICE / HOUR", .right = true, .decimals = 2},
                  {.name = "cost_per_million", .title = "COST / MILLION REQUESTS", .right = true, .decimals = 4},
                  {"currency", "CURRENCY"}},
      .rows = {},
      .when_empty = "no backend was measured"};
  for (const MachinePrice& machine : prices.machines) {
    for (const std::string& backend : BackendsOf(profile.totals)) {
      const MeasuredCell& c = profile.totals.at(backend);
      if (!c.ok() || !c.median_s) continue;
      table.rows.push_back({machine.name, backend, machine.per_hour,
                            CostPerMillion(machine, *c.median_s, profile.batch, options.threads), prices.currency});
    }
  }
  return table;
}

Table CostlyReasonTable(std::span<const ModelResult> profiles, std::size_t limit) {
  struct Row {
    double between = 0, fusion = 0, by_downloads = 0;
    std::int64_t unmeasured = 0, sites = 0;
    std::set<std::string> models;
    std::string example;
    double most = -1;
  };
  std::map<std::pair<std::string, std::string>, Row> reasons;
  std::int64_t profiled = 0;
  for (const ModelResult& result : profiles) {
    const auto measured = ReadMeasured(result.capture.mode_detail_json);
    if (!measured || measured->profiles.empty()) continue;
    ++profiled;
    const MeasuredProfile& profile = measured->profiles.front();
    for (const BreakCost& cost : profile.break_costs) {
      Row& row = reasons[{cost.reason, cost.gb_id}];
      const double between = cost.between_s.value_or(0);
      // A saving that several sites share counts once, and a loss does not make another break cheaper.
      const double saved = FusionMatters(profile, cost) ? std::max(0.0, cost.fusion_s.value_or(0)) : 0;
      const double fusion = saved / static_cast<double>(cost.shared_with + 1);
      row.between += between, row.fusion += fusion;
      row.by_downloads += (between + fusion) * static_cast<double>(result.info.downloads.value_or(0));
      row.unmeasured += cost.fusion_s ? 0 : 1;
      row.sites += 1;
      row.models.insert(result.info.id);
      if (between + fusion > row.most) row.most = between + fusion, row.example = result.info.id;
    }
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Row>> order(reasons.begin(), reasons.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.between + a.second.fusion > b.second.between + b.second.fusion;
  });
  Table table{.title = "Reasons by cost, from the newest profiles of " + Counted(profiled, "model"),
              .columns = {{"reason", "REASON", false, 60},
                          {"gb_id", "ID"},
                          {.name = "cost_ms", .title = "COST ms", .right = true, .decimals = 3},
                          {.name = "between_ms", .title = "BETWEEN ms", .right = true, .decimals = 3},
                          {.name = "fusion_ms", .title = "FUSION ms", .right = true, .decimals = 3},
                          {"unmeasured", "NO FUSION", true},
                          {"sites", "SITES", true},
                          {"models", "MODELS", true},
                          {.name = "ms_downloads", .title = "ms x DOWNLOADS", .right = true, .decimals = 0},
                          {"example_model", "EXAMPLE", false, 40},
                          {"profiled_models", "", true}},
              .rows = {},
              .when_empty = profiled == 0 ? "no model has a profile: `breakwatch profile MODEL` makes one"
                                          : "no profiled model has a graph break"};
  for (const auto& [key, row] : order) {
    if (limit != 0 && table.rows.size() == limit) break;
    table.rows.push_back({key.first, key.second, (row.between + row.fusion) * kMillis, row.between * kMillis,
                          row.fusion * kMillis, row.unmeasured, row.sites, static_cast<std::int64_t>(row.models.size()),
                          row.by_downloads * kMillis, row.example, profiled});
  }
  return table;
}

}  // namespace breakwatch::report
