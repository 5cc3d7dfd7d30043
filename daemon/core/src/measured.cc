// What a worker measured, read from its JSON.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/measure.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "detail_fields.h"

namespace breakwatch {
namespace {

constexpr std::size_t kMaxProfiles = 64, kMaxSegments = 4096, kMaxCells = 16, kMaxCosts = 4096;
constexpr double kZOf95 = 1.959963984540054;  // a 95 % interval is this many standard errors on each side
constexpr double kSignificant = 0.05;

MeasuredCell CellOf(const json& in) {
  MeasuredCell cell;
  cell.status = TextOf(in, "status");
  cell.detail = TextOf(in, "detail");
  cell.runs = CountOf(in, "runs"), cell.failures = CountOf(in, "failures");
  const std::pair<const char*, std::optional<double> MeasuredCell::*> numbers[] = {
      {"mean_s", &MeasuredCell::mean_s},         {"median_s", &MeasuredCell::median_s},
      {"low_s", &MeasuredCell::low_s},           {"high_s", &MeasuredCell::high_s},
      {"p50_s", &MeasuredCell::p50_s},           {"p90_s", &MeasuredCell::p90_s},
      {"p95_s", &MeasuredCell::p95_s},           {"p99_s", &MeasuredCell::p99_s},
      {"share", &MeasuredCell::share},           {"compile_s", &MeasuredCell::compile_s},
      {"graphs_s", &MeasuredCell::graphs_s},     {"python_s", &MeasuredCell::python_s},
      {"throughput", &MeasuredCell::throughput}, {"peak_rss_mb", &MeasuredCell::peak_rss_mb},
  };
  for (const auto& [name, field] : numbers) cell.*field = NumberOf(in, name);
  return cell;
}

MeasuredCells CellsOf(const json& in) {
  MeasuredCells cells;
  for (const auto& item : in.items()) {
    if (cells.size() == kMaxCells) break;
    if (item.value().is_object()) cells[Truncate(ToUtf8(item.key()), 64)] = CellOf(item.value());
  }
  return cells;
}

MeasuredSegment SegmentOf(const json& in) {
  MeasuredSegment segment;
  segment.index = SmallOf(in, "index");
  segment.is_graph = TextOf(in, "kind") == "graph";
  segment.graph = SmallOf(in, "graph");
  segment.calls = CountOf(in, "calls");
  segment.compile_id = TextOf(in, "compile_id"), segment.file = TextOf(in, "file");
  segment.function = TextOf(in, "function");
  segment.line = SmallOf(in, "line");
  if (NumberOf(in, "ops")) segment.ops = CountOf(in, "ops");
  segment.ended_by = TextOf(in, "ended_by");
  segment.cells = CellsOf(ObjectOf(in, "cells"));
  return segment;
}

BreakCost CostOf(const json& in) {
  BreakCost cost;
  cost.site_id = TextOf(in, "site_id"), cost.reason = TextOf(in, "reason"), cost.gb_id = TextOf(in, "gb_id");
  cost.occurrences = CountOf(in, "occurrences");
  cost.between_s = NumberOf(in, "between_s");
  cost.fusion_s = SignedOf(in, "fusion_s");
  cost.shared_with = CountOf(in, "shared_with");
  cost.why_not = TextOf(in, "why_not");
  cost.backend = TextOf(in, "backend");
  return cost;
}

MeasuredProfile ProfileOf(const json& in) {
  MeasuredProfile profile;
  profile.batch = SmallOf(in, "batch"), profile.seq = SmallOf(in, "seq");
  profile.dynamic = FlagOf(in, "dynamic");
  profile.inputs_json = JsonText(ObjectOf(in, "inputs"));
  profile.discarded_runs = CountOf(in, "discarded_runs"), profile.recompiles = CountOf(in, "recompiles");
  profile.segments = ListOf(in, "segments", kMaxSegments, &SegmentOf);
  profile.totals = CellsOf(ObjectOf(in, "totals"));
  const json whole = ObjectOf(in, "whole");
  profile.whole = {FlagOf(whole, "available"), TextOf(whole, "how"), TextOf(whole, "why_not"),
                   CellsOf(ObjectOf(whole, "cells"))};
  profile.break_costs = ListOf(in, "break_costs", kMaxCosts, &CostOf);
  return profile;
}

// The options as the worker repeats them. They are only shown, so that unknown fields do no harm.
Result<MeasureOptions> OptionsOf(const json& in) {
  json options = json::object();
  const json known = json::parse(ToJson(MeasureOptions()));
  for (const auto& item : known.items()) {
    if (in.contains(item.key())) options[item.key()] = in[item.key()];
  }
  auto read = MeasureOptionsFromJson(JsonText(options));
  if (!read) return Error{ErrorCode::kInvalid, "field \"measure\": " + read.error().message};
  return read;
}

double HalfWidth(const MeasuredCell& cell) { return (*cell.high_s - *cell.low_s) / 2; }

}  // namespace

Result<Measured> ReadMeasured(std::string_view text) {
  if (auto checked = CheckJson(text, kMaxMeasuredBytes, kMaxDetailDepth); !checked) return checked.error();
  const json in = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!in.is_object()) return WrongDetail("mode_detail", "an object");
  if (!in.contains("profiles") || !in["profiles"].is_array()) return WrongDetail("profiles", "a list");
  const json as_given = ObjectOf(in, "measure");
  auto options = OptionsOf(as_given);
  if (!options) return options.error();
  Measured measured;
  measured.options = *std::move(options);
  measured.published = TextOf(as_given, "size") == "published";
  measured.machine = TextOf(in, "machine");
  const json noise = ObjectOf(in, "noise");
  measured.noise = {NumberOf(noise, "median_s"), NumberOf(noise, "spread"), NumberOf(noise, "after_spread"),
                    FlagOf(noise, "quiet", true)};
  measured.profiles = ListOf(in, "profiles", kMaxProfiles, &ProfileOf);
  return measured;
}

std::optional<LatencyDifference> CompareLatency(const MeasuredCell& a, const MeasuredCell& b) {
  for (const MeasuredCell* cell : {&a, &b}) {
    if (!cell->median_s || !cell->low_s || !cell->high_s || *cell->median_s <= 0) return std::nullopt;
  }
  LatencyDifference difference;
  difference.ratio = *b.median_s / *a.median_s;
  const double apart = std::abs(*b.median_s - *a.median_s);
  const double error = std::hypot(HalfWidth(a), HalfWidth(b)) / kZOf95;  // of the difference of the medians
  if (apart > 0) difference.p_value = error > 0 ? std::erfc(apart / error / std::sqrt(2.0)) : 0;
  difference.significant = difference.p_value < kSignificant;
  return difference;
}

}  // namespace breakwatch
