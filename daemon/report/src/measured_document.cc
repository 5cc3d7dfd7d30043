// Profiles and benchmarks as whole documents.
#include <algorithm>
#include <cstdio>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/measured.h"
#include "escape.h"
#include "measured_cells.h"
#include "segments.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

std::string Percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

std::string SizeText(const Measured& measured) { return measured.published ? "as published" : "reduced model"; }

// What is true of the whole result.
std::vector<Fact> FactsOf(const ModelResult& result, const Measured& measured) {
  const CaptureResult& c = result.capture;
  std::vector<Fact> facts{
      {"class", c.architecture},
      {"commit", result.info.sha},
      {"size", SizeText(measured) + (c.params ? ", " + std::to_string(*c.params) + " parameters" : "")},
      {"graphs", c.graphs ? std::to_string(*c.graphs) + ", " + Counted(c.breaks.value_or(0), "break") : std::string()},
      {"machine", (measured.machine.empty() ? "" : measured.machine + "; ") + NoiseText(measured.noise)},
      {"toolchain", c.toolchain.Key()}};
  if (result.reused) facts.emplace_back("measured", "in an earlier sweep; --rebuild always measures again");
  std::erase_if(facts, [](const Fact& fact) { return fact.second.empty(); });
  return facts;
}

std::string DiscardedText(const MeasuredProfile& profile) {
  return Counted(profile.discarded_runs, "run") + " discarded because something compiled; " +
         Counted(profile.recompiles, "recompile");
}

// What removing every break would give.
std::string WholeText(const MeasuredProfile& profile) {
  const MeasuredWhole& whole = profile.whole;
  if (!whole.available) {
    return whole.why_not.empty() ? "" : "No whole-graph version was measured: " + whole.why_not;
  }
  if (whole.cells.empty()) return "";  // the model is one graph: its times are the totals
  std::string text = "As one graph (" + whole.how + "):";
  const char* separator = " ";
  for (const std::string& backend : BackendsOf(whole.cells)) {
    const MeasuredCell& cell = whole.cells.at(backend);
    char number[64] = "";
    if (cell.median_s) std::snprintf(number, sizeof number, " %.3f ms", *cell.median_s * kMillis);
    text += separator + backend + (cell.ok() ? std::string(number) : " " + cell.status);
    if (const auto total = profile.totals.find(backend); total != profile.totals.end() && cell.ok()) {
      const std::string difference = DifferenceText(CompareLatency(total->second, cell));
      if (!difference.empty()) text += " (" + difference + ")";
    }
    separator = ", ";
  }
  return text;
}

struct Section {
  std::string title;
  Table table;
};

std::vector<Section> SectionsOf(const ModelResult& result, const Measured& measured, const MeasuredProfile& profile,
                                const Prices* prices) {
  std::vector<Section> sections;
  if (!profile.segments.empty()) sections.push_back({"Segments", SegmentCostTable(profile, result.capture)});
  sections.push_back({"Totals", TotalCostTable(profile)});
  if (!profile.break_costs.empty()) sections.push_back({"Cost of each break", BreakCostTable(profile, result.capture)});
  if (prices != nullptr) sections.push_back({"Prices", PriceTable(profile, measured.options, *prices)});
  return sections;
}

std::string Heading(const std::string& text, int level, Format format, Style style) {
  if (format == Format::kMarkdown) return std::string(static_cast<std::size_t>(level), '#') + " " + MarkdownText(text);
  return style.color ? "\x1b[1m" + OneLine(text) + "\x1b[0m" : OneLine(text);
}

std::string Line(const std::string& text, Format format) {
  if (text.empty()) return {};
  return (format == Format::kMarkdown ? "\n" + MarkdownText(text) : OneLine(text)) + "\n";
}

std::string FactText(const std::vector<Fact>& facts, Format format) {
  std::string text;
  for (const auto& [name, value] : facts) {
    text += format == Format::kMarkdown ? "- " + MarkdownText(name + ": " + value) + "\n"
                                        : "  " + Pad(name, 10, false) + "  " + OneLine(value) + "\n";
  }
  return text;
}

std::string ProfileText(const ModelResult& result, const Measured& measured, const Prices* prices, Format format,
                        Style style) {
  std::string text = FactText(FactsOf(result, measured), format);
  for (const MeasuredProfile& profile : measured.profiles) {
    text += "\n" + Heading(ConditionsText(measured, profile), 3, format, style) + "\n";
    text += Line(DiscardedText(profile), format);
    for (const Section& section : SectionsOf(result, measured, profile, prices)) {
      text += "\n" + Heading(section.title, 4, format, style) + "\n" + (format == Format::kMarkdown ? "\n" : "");
      text += Render(section.table, format, style);
    }
    if (const std::string whole = WholeText(profile); !whole.empty()) text += "\n" + Line(whole, format);
  }
  return text;
}

std::string FailureText(const ModelResult& result, Format format) {
  const std::string text = std::string(StatusName(result.capture.status)) + ": " + result.capture.detail;
  return format == Format::kMarkdown ? MarkdownText(text) + "\n" : "  " + OneLine(text) + "\n";
}

std::string Pages(std::span<const ModelResult> results, const Prices* prices, Format format, Style style) {
  std::string out;
  for (const ModelResult& result : results) {
    out += (out.empty() ? "" : "\n") + Heading(result.info.id, 2, format, style) + "\n";
    if (format == Format::kMarkdown) out += "\n";
    const auto measured = ReadMeasured(result.capture.mode_detail_json);
    out += measured ? ProfileText(result, *measured, prices, format, style) : FailureText(result, format);
  }
  return out.empty() ? "no models\n" : out;
}

Json ProfileJson(const ModelResult& result, const Measured& measured, const MeasuredProfile& profile,
                 const Prices* prices) {
  Json json = {{"batch", profile.batch},
               {"seq", profile.seq},
               {"dynamic", profile.dynamic},
               {"discarded_runs", profile.discarded_runs},
               {"recompiles", profile.recompiles},
               {"segments", RowsAsJson(SegmentCostTable(profile, result.capture))},
               {"totals", RowsAsJson(TotalCostTable(profile))},
               {"breaks", RowsAsJson(BreakCostTable(profile, result.capture))}};
  if (prices != nullptr) json["prices"] = RowsAsJson(PriceTable(profile, measured.options, *prices));
  return json;
}

Json ModelJson(const ModelResult& result, const Prices* prices) {
  const CaptureResult& c = result.capture;
  Json json = {{"model", result.info.id},   {"revision", result.info.sha},   {"status", StatusName(c.status)},
               {"status_detail", c.detail}, {"sweep_id", result.sweep_id},   {"toolchain", c.toolchain.Key()},
               {"reused", result.reused},   {"structure", result.structure}, {"profiles", Json::array()}};
  const auto measured = ReadMeasured(c.mode_detail_json);
  if (!measured) return json;
  json["size"] = measured->published ? "published" : "reduced";
  json["dtype"] = measured->options.dtype, json["device"] = measured->options.device;
  json["threads"] = measured->options.threads;
  json["quiet"] = measured->noise.quiet;
  for (const MeasuredProfile& profile : measured->profiles) {
    json["profiles"].push_back(ProfileJson(result, *measured, profile, prices));
  }
  json["measured"] = Json::parse(c.mode_detail_json, nullptr, /*allow_exceptions=*/false);
  return json;
}

// One shape for segments and totals, so that a spreadsheet can add and filter them.
Table ProfileRows(std::span<const ModelResult> results) {
  Table table{
      .title = {},
      .columns = {{"model", "MODEL"},     {"revision", "COMMIT"}, {"size", "SIZE"},           {"dtype", "DTYPE"},
                  {"device", "DEVICE"},   {"threads", "THREADS"}, {"batch", "BATCH"},         {"seq", "SEQ"},
                  {"dynamic", "DYNAMIC"}, {"part", "PART"},       {"site_id", "SITE"},        {"reason", "REASON"},
                  {"file", "FILE"},       {"line", "LINE"},       {"backend", "BACKEND"},     {"calls", "CALLS"},
                  {"runs", "RUNS"},       {"mean_ms", "MEAN ms"}, {"median_ms", "MEDIAN ms"}, {"low_ms", "LOW ms"},
                  {"high_ms", "HIGH ms"}, {"p95_ms", "P95 ms"},   {"share", "SHARE"},         {"failures", "FAILURES"},
                  {"status", "STATUS"},   {"detail", "DETAIL"}},
      .rows = {}};
  for (const ModelResult& result : results) {
    const auto measured = ReadMeasured(result.capture.mode_detail_json);
    const auto add = [&](const MeasuredProfile* profile, const std::string& part, const MeasuredSegment* segment,
                         const std::string& backend, const MeasuredCell& c) {
      const MeasureOptions options = measured ? measured->options : MeasureOptions{.backends = {}, .batches = {}};
      const BreakSite* site = segment == nullptr ? nullptr : SiteOf(result.capture, segment->ended_by);
      table.rows.push_back({result.info.id,
                            result.info.sha,
                            measured ? Cell(std::string(measured->published ? "published" : "reduced")) : Cell(),
                            TextOrNone(options.dtype),
                            TextOrNone(measured ? options.device : ""),
                            measured ? Cell(std::int64_t{options.threads}) : Cell(),
                            profile ? Cell(std::int64_t{profile->batch}) : Cell(),
                            profile ? Cell(std::int64_t{profile->seq}) : Cell(),
                            profile ? Cell(profile->dynamic) : Cell(),
                            TextOrNone(part),
                            segment ? TextOrNone(segment->ended_by) : Cell(),
                            site ? TextOrNone(site->reason) : Cell(),
                            segment ? TextOrNone(segment->file) : Cell(),
                            segment && segment->line > 0 ? Cell(std::int64_t{segment->line}) : Cell(),
                            TextOrNone(backend),
                            segment ? Cell(segment->calls) : Cell(),
                            profile ? Cell(c.runs) : Cell(),
                            Millis(c.mean_s),
                            Millis(c.median_s),
                            Millis(c.low_s),
                            Millis(c.high_s),
                            Millis(c.p95_s),
                            Number(c.share),
                            profile ? Cell(c.failures) : Cell(),
                            c.status,
                            TextOrNone(c.detail)});
    };
    if (!measured || measured->profiles.empty()) {
      MeasuredCell none;
      none.status = StatusName(result.capture.status), none.detail = result.capture.detail;
      add(nullptr, "", nullptr, "", none);
      continue;
    }
    for (const MeasuredProfile& profile : measured->profiles) {
      for (const MeasuredSegment& s : profile.segments) {
        const std::string part =
            s.is_graph ? "graph " + std::to_string(s.graph) : "python " + std::to_string(s.index + 1);
        for (const std::string& backend : BackendsOf(s.cells)) add(&profile, part, &s, backend, s.cells.at(backend));
      }
      for (const std::string& backend : BackendsOf(profile.totals))
        add(&profile, "total", nullptr, backend, profile.totals.at(backend));
    }
  }
  return table;
}

}  // namespace

std::string NoiseText(const MeasuredNoise& noise) {
  std::string text;
  if (noise.spread) text += Percent(*noise.spread) + " spread before";
  if (noise.after_spread) text += (text.empty() ? "" : ", ") + Percent(*noise.after_spread) + " after";
  if (!noise.quiet) return "too noisy for these numbers to be compared" + (text.empty() ? "" : ": " + text);
  return "quiet" + (text.empty() ? "" : ": " + text);
}

std::string ConditionsText(const Measured& measured, const MeasuredProfile& profile) {
  const MeasureOptions& o = measured.options;
  std::string text = "batch " + std::to_string(profile.batch);
  if (profile.seq > 0) text += ", length " + std::to_string(profile.seq);
  if (profile.dynamic) text += ", dynamic shapes";
  return text + ", " + (o.dtype.empty() ? "" : o.dtype + " ") + "on " + o.device + ", " + Counted(o.threads, "thread") +
         ", " + SizeText(measured);
}

std::string RenderProfiles(std::span<const ModelResult> results, const Prices* prices, Format format, Style style) {
  if (format == Format::kCsv) return Render(ProfileRows(results), format, style);
  if (format != Format::kJson) return Pages(results, prices, format, style);
  Json document = {{"schema", 1}, {"models", Json::array()}};
  for (const ModelResult& result : results) document["models"].push_back(ModelJson(result, prices));
  return Dump(document);
}

std::string MeasuredText(const ModelResult& result, Format format, Style style) {
  const auto measured = ReadMeasured(result.capture.mode_detail_json);
  return measured ? ProfileText(result, *measured, nullptr, format, style) : std::string();
}

std::string MeasuredLine(const ModelResult& result) {
  const auto measured = ReadMeasured(result.capture.mode_detail_json);
  if (!measured || measured->profiles.empty()) return {};
  const MeasuredProfile& profile = measured->profiles.front();
  auto base = profile.totals.find(std::string(kPlain));
  if (base == profile.totals.end()) base = profile.totals.find("eager");  // a benchmark's eager is the whole model
  std::string text;
  for (const std::string& backend : BackendsOf(profile.totals)) {
    const MeasuredCell& cell = profile.totals.at(backend);
    if (!cell.ok() || !cell.median_s) continue;
    char number[64];
    std::snprintf(number, sizeof number, " %.3f ms", *cell.median_s * kMillis);
    text += (text.empty() ? "" : ", ") + backend + number;
    if (base == profile.totals.end() || backend == base->first) continue;
    const std::string difference = DifferenceText(CompareLatency(base->second, cell));
    if (!difference.empty()) text += " (" + difference + ")";
  }
  return text.empty() ? "" : text + "; " + ConditionsText(*measured, profile);
}

Table BenchTable(std::span<const ModelResult> results) {
  Table table{.title = {},
              .columns = {{"model", "MODEL", false, 40},
                          {"author", ""},
                          {"class", ""},
                          {"parameters", "PARAMETERS", true},
                          {"hash", ""},
                          {"task", ""},
                          {"license", ""},
                          {"inputs", ""},
                          {"batch", "BATCH", true},
                          {"backend", "BACKEND"},
                          {"device", ""},
                          {"dtype", ""},
                          {"threads", ""},
                          {.name = "mean_ms", .title = "MEAN ms", .right = true, .decimals = 3},
                          {.name = "median_ms", .title = "MEDIAN ms", .right = true, .decimals = 3},
                          {.name = "low_ms", .title = "LOW ms", .right = true, .decimals = 3},
                          {.name = "high_ms", .title = "HIGH ms", .right = true, .decimals = 3},
                          {.name = "p90_ms", .title = "", .right = true, .decimals = 3},
                          {.name = "p95_ms", .title = "P95 ms", .right = true, .decimals = 3},
                          {.name = "p99_ms", .title = "", .right = true, .decimals = 3},
                          {.name = "throughput", .title = "PER SECOND", .right = true, .decimals = 1},
                          {.name = "compile_s", .title = "COMPILE s", .right = true, .decimals = 2},
                          {.name = "peak_mb", .title = "PEAK MiB", .right = true, .decimals = 0},
                          {"status", "STATUS"},
                          {"detail", "DETAIL", false, 48}},
              .rows = {},
              .when_empty = "no models"};
  for (const ModelResult& result : results) {
    const CaptureResult& capture = result.capture;
    const ModelInfo& info = result.info;
    const auto measured = ReadMeasured(capture.mode_detail_json);
    const auto add = [&](const MeasuredProfile* profile, const std::string& backend, const MeasuredCell& c) {
      const std::size_t slash = info.id.find('/');
      const std::string known = info.architectures.empty() ? "" : info.architectures.front();
      table.rows.push_back({info.id,
                            slash == std::string::npos ? Cell() : Cell(info.id.substr(0, slash)),
                            TextOrNone(capture.architecture.empty() ? known : capture.architecture),
                            capture.params ? Cell(*capture.params) : Cell(),
                            TextOrNone(result.structure),
                            TextOrNone(info.task),
                            TextOrNone(info.license),
                            TextOrNone(InputsText(profile ? profile->inputs_json : capture.inputs_json)),
                            profile ? Cell(std::int64_t{profile->batch}) : Cell(),
                            TextOrNone(backend),
                            TextOrNone(measured ? measured->options.device : capture.device),
                            TextOrNone(measured ? measured->options.dtype : capture.dtype),
                            measured ? Cell(std::int64_t{measured->options.threads}) : Cell(),
                            Millis(c.mean_s),
                            Millis(c.median_s),
                            Millis(c.low_s),
                            Millis(c.high_s),
                            Millis(c.p90_s),
                            Millis(c.p95_s),
                            Millis(c.p99_s),
                            Number(c.throughput),
                            Number(c.compile_s),
                            Number(c.peak_rss_mb),
                            c.status,
                            TextOrNone(c.detail)});
    };
    if (!measured || measured->profiles.empty()) {
      MeasuredCell none;
      none.status = StatusName(capture.status), none.detail = capture.detail;
      add(nullptr, "", none);
      continue;
    }
    for (const MeasuredProfile& profile : measured->profiles) {
      for (const std::string& backend : BackendsOf(profile.totals)) add(&profile, backend, profile.totals.at(backend));
    }
  }
  return table;
}

std::string RenderBench(std::span<const ModelResult> results, Format format, Style style) {
  const std::string table = Render(BenchTable(results), format, style);
  if (format == Format::kJson || format == Format::kCsv) return table;
  std::string notes;
  for (const ModelResult& result : results) {
    const auto measured = ReadMeasured(result.capture.mode_detail_json);
    if (!measured || measured->profiles.empty()) continue;
    const MeasuredProfile& first = measured->profiles.front();
    notes += Line(result.info.id + ": " + ConditionsText(*measured, first) + "; machine " + NoiseText(measured->noise),
                  format);
  }
  return table + (notes.empty() ? "" : "\n" + notes);
}

}  // namespace breakwatch::report
