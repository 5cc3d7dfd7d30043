#include <algorithm>

#include "breakwatch/core/text.h"
#include "breakwatch/report/compare.h"
#include "comparison_tables.h"
#include "document.h"
#include "escape.h"
#include "gate_text.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

using compare::Comparison;
using compare::ModelComparison;
using compare::SiteChange;
using compare::Totals;
using compare::Verdict;

constexpr std::size_t kMaxSitesShown = 60, kMaxReasonsShown = 20;

Cell Number(const std::optional<std::int64_t>& value) { return value ? Cell(*value) : Cell(); }
Cell Count(std::size_t value) { return static_cast<std::int64_t>(value); }
Cell StatusCell(const std::optional<Status>& status) {
  return status ? Cell(std::string(StatusName(*status))) : Cell();
}

bool HasModes(const Comparison& c) {
  return std::any_of(c.models.begin(), c.models.end(), [](const ModelComparison& m) { return !m.mode.empty(); });
}

bool StayedAsItWas(const ModelComparison& m) {
  return m.verdict == Verdict::kSame && m.new_sites.empty() && m.gone_sites.empty() && m.changed_sites.empty();
}

std::string DifferenceText(const compare::Difference& d) { return d.what + " " + d.a + " -> " + d.b; }

bool HasColumn(const std::string& quantity) { return quantity == "breaks" || quantity == "break_sites"; }

// Why the model cannot be compared. Otherwise the changes that have no column, and the differences of this model that
// not all models have.
std::string NoteOf(const ModelComparison& m, const Comparison& c) {
  if (!m.why.empty() && m.verdict != Verdict::kSame) return m.why;
  std::string text;
  for (const compare::QuantityChange& change : m.changes) {
    if (HasColumn(change.name)) continue;
    text += (text.empty() ? "" : ", ") + change.name + " " + std::to_string(change.a) + " -> " +
            std::to_string(change.b) + (change.worse ? " (worse)" : " (better)");
  }
  for (const compare::Difference& d : m.differences) {
    for (const auto& [known, models] : c.differences) {
      if (known == d && models < c.compared_a.models) text += (text.empty() ? "" : ", ") + DifferenceText(d);
    }
  }
  return text;
}

void AddSites(Table& table, const ModelComparison& m, const char* change, const std::vector<SiteChange>& sites) {
  for (const SiteChange& s : sites) {
    std::string place = s.site.file;
    if (s.site.line > 0) place += ":" + std::to_string(s.site.line);
    table.rows.push_back({m.model, std::string(change), s.site.reason, s.site.gb_id, s.before, s.after, place,
                          s.site.function, s.site.source_line, s.site.site_id});
  }
}

std::string VerdictText(const compare::LatencyChange& change) {
  if (change.worse || change.better) return change.worse ? "worse" : "better";
  if (!change.difference) return {};
  return change.difference->significant ? "within tolerance" : "no difference";
}

Cell Millis(const std::optional<MeasuredCell>& cell, std::optional<double> MeasuredCell::*number) {
  return cell && (*cell).*number ? Cell(*((*cell).*number) * 1e3) : Cell();
}

Table LatencyTable(std::span<const ModelComparison> models) {
  Table table{.title = "Times",
              .columns = {{"model", "MODEL", false, 40},
                          {"mode", ""},
                          {"backend", "BACKEND"},
                          {"batch", "BATCH", true},
                          {"seq", "", true},
                          {"dynamic", ""},
                          {"verdict", "VERDICT"},
                          {.name = "median_a_ms", .title = "A ms", .right = true, .decimals = 3},
                          {.name = "low_a_ms", .title = "LOW", .right = true, .decimals = 3},
                          {.name = "high_a_ms", .title = "HIGH", .right = true, .decimals = 3},
                          {.name = "median_b_ms", .title = "B ms", .right = true, .decimals = 3},
                          {.name = "low_b_ms", .title = "LOW", .right = true, .decimals = 3},
                          {.name = "high_b_ms", .title = "HIGH", .right = true, .decimals = 3},
                          {.name = "ratio", .title = "B / A", .right = true, .decimals = 2},
                          {.name = "p_value", .title = "P", .right = true, .decimals = 3},
                          {"status_a", ""},
                          {"status_b", ""}},
              .rows = {},
              .when_empty = "no times on both sides"};
  for (const ModelComparison& m : models) {
    for (const compare::LatencyChange& l : m.latencies) {
      const std::string verdict = VerdictText(l);
      table.rows.push_back(
          {m.model, m.mode.empty() ? Cell() : Cell(m.mode), l.backend, std::int64_t{l.batch}, std::int64_t{l.seq},
           l.dynamic, verdict.empty() ? Cell() : Cell(verdict), Millis(l.a, &MeasuredCell::median_s),
           Millis(l.a, &MeasuredCell::low_s), Millis(l.a, &MeasuredCell::high_s), Millis(l.b, &MeasuredCell::median_s),
           Millis(l.b, &MeasuredCell::low_s), Millis(l.b, &MeasuredCell::high_s),
           l.difference ? Cell(l.difference->ratio) : Cell(), l.difference ? Cell(l.difference->p_value) : Cell(),
           l.a ? Cell(l.a->status) : Cell(), l.b ? Cell(l.b->status) : Cell()});
    }
  }
  return table;
}

Table Cut(Table table, std::size_t rows) {
  if (table.rows.size() > rows) {
    table.title += ", " + std::to_string(rows) + " of " + std::to_string(table.rows.size());
    table.rows.resize(rows);
  }
  return table;
}

std::string ComparisonText(const ComparisonReport& report, Style style) {
  const Comparison& c = report.comparison;
  const auto line = [](const std::string& text) { return OneLine(text) + "\n"; };
  std::string out = line("A (old): " + c.a) + line("B (new): " + c.b) + "\n";
  const auto add = [&](const Table& table) { out += Render(table, Format::kText, style) + "\n"; };
  add(OtherDifferenceTable(c)), add(ComparisonTable(c, report.all));
  if (const Table sites = SiteChangeTable(c); !sites.rows.empty()) add(Cut(sites, kMaxSitesShown));
  if (const Table times = LatencyChangeTable(c); !times.rows.empty()) add(times);
  if (const Table reasons = ReasonChangeTable(c); !reasons.rows.empty()) add(Cut(reasons, kMaxReasonsShown));
  add(TotalsTable(c));
  out += line(ComparisonSummary(c));
  if (!report.filter.empty()) out += line("Selected: " + std::string(report.filter));
  return report.gate == nullptr || !report.is_gate ? out : out + "\n" + RenderGate(*report.gate, Format::kText);
}

Json TotalsJson(const Totals& t) {
  return {{"models", t.models}, {"clean", t.clean}, {"broken", t.broken}, {"without_numbers", t.without_numbers},
          {"breaks", t.events}, {"sites", t.sites}};
}

Json SitesJson(const std::vector<SiteChange>& sites) {
  Json list = Json::array();
  for (const SiteChange& s : sites) {
    list.push_back({{"site_id", s.site.site_id},
                    {"reason", s.site.reason},
                    {"gb_id", s.site.gb_id},
                    {"file", s.site.file},
                    {"line", s.site.line},
                    {"function", s.site.function},
                    {"source_line", s.site.source_line},
                    {"module_path", s.site.module_path},
                    {"breaks_a", s.before},
                    {"breaks_b", s.after}});
  }
  return list;
}

Json ComparisonJson(const ComparisonReport& report) {
  const Comparison& c = report.comparison;
  const compare::GateDecision* gate = report.is_gate ? report.gate : nullptr;
  Json models = RowsAsJson(ComparisonTable(c, /*all=*/true));
  for (std::size_t i = 0; i < c.models.size(); ++i) {
    const ModelComparison& m = c.models[i];
    models[i]["new_sites"] = SitesJson(m.new_sites), models[i]["gone_sites"] = SitesJson(m.gone_sites);
    models[i]["changed_sites"] = SitesJson(m.changed_sites);
    Json differences = Json::array();
    for (const auto& d : m.differences) differences.push_back({{"what", d.what}, {"a", d.a}, {"b", d.b}});
    models[i]["differences"] = std::move(differences);
    Json changes = Json::array();
    for (const auto& change : m.changes) {
      changes.push_back({{"quantity", change.name}, {"a", change.a}, {"b", change.b}, {"worse", change.worse}});
    }
    models[i]["changes"] = std::move(changes);
    if (!m.latencies.empty()) models[i]["latencies"] = RowsAsJson(LatencyTable({&m, 1}));
  }
  Json verdicts = Json::object();
  for (const auto& [verdict, count] : c.verdicts) verdicts[std::string(VerdictName(verdict))] = count;
  return {{"format", "breakwatch-comparison"},
          {"version", kDocumentVersion},
          {"a", c.a},
          {"b", c.b},
          {"filter", report.filter.empty() ? Json() : Json(std::string(report.filter))},
          {"gate", gate == nullptr ? Json() : GateJson(*gate)},
          {"summary", ComparisonSummary(c)},
          {"verdicts", std::move(verdicts)},
          {"totals",
           {{"compared", {{"a", TotalsJson(c.compared_a)}, {"b", TotalsJson(c.compared_b)}}},
            {"all", {{"a", TotalsJson(c.all_a)}, {"b", TotalsJson(c.all_b)}}}}},
          {"differences", RowsAsJson(OtherDifferenceTable(c))},
          {"models", std::move(models)},
          {"reasons", RowsAsJson(ReasonChangeTable(c))}};
}

}  // namespace

Table TotalsTable(const Comparison& c) {
  Table table{.title = "Totals",
              .columns = {{"of", "RESULTS"},
                          {"models", "MODELS", true},
                          {"clean", "FULL GRAPH", true},
                          {"broken", "GRAPH BREAKS", true},
                          {"without_numbers", "NO NUMBERS", true},
                          {"breaks", "BREAKS", true},
                          {"sites", "SITES", true}},
              .rows = {}};
  const auto add = [&](const std::string& name, const Totals& t) {
    table.rows.push_back({name, t.models, t.clean, t.broken, t.without_numbers, t.events, t.sites});
  };
  add("A, compared models", c.compared_a), add("B, compared models", c.compared_b);
  add("A, all", c.all_a), add("B, all", c.all_b);
  return table;
}

Table OtherDifferenceTable(const Comparison& c) {
  Table table{.title = "Other differences",
              .columns = {{"what", "WHAT"}, {"a", "A"}, {"b", "B"}, {"models", "MODELS", true}},
              .rows = {},
              .when_empty = "none: versions, commits, modes, depths and inputs are equal"};
  for (const auto& [d, models] : c.differences) table.rows.push_back({d.what, d.a, d.b, models});
  if (table.rows.size() > kMaxReasonsShown) table.rows.resize(kMaxReasonsShown);
  return table;
}

Table ComparisonTable(const Comparison& c, bool all) {
  Table table{.title = {},
              .columns = {{"model", "MODEL", false, 48},
                          {"mode", HasModes(c) ? "MODE" : ""},
                          {"verdict", "VERDICT"},
                          {"status_a", "STATUS A"},
                          {"status_b", "STATUS B"},
                          {"breaks_a", "BREAKS A", true},
                          {"breaks_b", "BREAKS B", true},
                          {"sites_a", "SITES A", true},
                          {"sites_b", "SITES B", true},
                          {"new_sites", "NEW SITES", true},
                          {"gone_sites", "GONE SITES", true},
                          {"changed_sites", "", true},
                          {"note", "NOTE", false, 80}},
              .rows = {},
              .when_empty = c.models.empty() ? "no models on either side" : "no model changed"};
  for (const ModelComparison& m : c.models) {
    if (!all && StayedAsItWas(m)) continue;
    table.rows.push_back({m.model, m.mode.empty() ? Cell() : Cell(m.mode), std::string(VerdictName(m.verdict)),
                          StatusCell(m.a), StatusCell(m.b), Number(m.breaks_a), Number(m.breaks_b), Number(m.sites_a),
                          Number(m.sites_b), Count(m.new_sites.size()), Count(m.gone_sites.size()),
                          Count(m.changed_sites.size()), NoteOf(m, c)});
  }
  return table;
}

Table SiteChangeTable(const Comparison& c) {
  Table table{.title = "Sites",
              .columns = {{"model", "MODEL", false, 40},
                          {"change", "CHANGE"},
                          {"reason", "REASON", false, 48},
                          {"gb_id", "ID"},
                          {"breaks_a", "BREAKS A", true},
                          {"breaks_b", "BREAKS B", true},
                          {.name = "place", .title = "AT", .widest = 64, .keep_end = true},
                          {"function", ""},
                          {"source_line", ""},
                          {"site_id", ""}},
              .rows = {},
              .when_empty = "no site changed"};
  for (const ModelComparison& m : c.models) {
    AddSites(table, m, "new", m.new_sites), AddSites(table, m, "gone", m.gone_sites),
        AddSites(table, m, "changed", m.changed_sites);
  }
  return table;
}

Table LatencyChangeTable(const Comparison& c) { return LatencyTable(c.models); }

Table ReasonChangeTable(const Comparison& c) {
  Table table{.title = "By reason",
              .columns = {{"reason", "REASON", false, 56},
                          {"gb_id", "ID"},
                          {"breaks_a", "BREAKS A", true},
                          {"breaks_b", "BREAKS B", true},
                          {"sites_a", "SITES A", true},
                          {"sites_b", "SITES B", true},
                          {"models_a", "MODELS A", true},
                          {"models_b", "MODELS B", true}},
              .rows = {},
              .when_empty = "no breaks on either side"};
  for (const auto& r : c.reasons) {
    table.rows.push_back({r.reason, r.gb_id, r.events_a, r.events_b, r.sites_a, r.sites_b, r.models_a, r.models_b});
  }
  return table;
}

std::string ComparisonSummary(const Comparison& c) {
  std::string text;
  for (const auto& [verdict, count] : c.verdicts) {
    std::string name(VerdictName(verdict));
    if (verdict == Verdict::kSame) name = "the same";
    if (verdict == Verdict::kNoBaseline) name = "without a baseline";
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  }
  if (text.empty()) return "no models to compare";
  // A row for each model, or for each model and mode.
  const std::string noun = HasModes(c) ? "result" : "model", models = Counted(c.models.size(), noun) + ": " + text;
  if (c.compared_a.models == 0) return models + ". No " + noun + " has comparable numbers in A and B";
  const auto breaks = [](const Totals& t) { return Counted(t.events, "break") + " at " + Counted(t.sites, "site"); };
  return models + ". " + Counted(c.compared_a.models, noun) + " compared: " + breaks(c.compared_a) + " in A, " +
         breaks(c.compared_b) + " in B";
}

std::string ComparisonInText(const ComparisonReport& report, Format format, Style style) {
  if (format == Format::kJson) return Dump(ComparisonJson(report));
  if (format == Format::kCsv) return Render(ComparisonTable(report.comparison, /*all=*/true), format);
  return ComparisonText(report, style);
}

}  // namespace breakwatch::report
