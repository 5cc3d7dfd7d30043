// Comparisons and bisections as tables and documents. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "breakwatch/compare/attribute.h"
#include "breakwatch/compare/compare.h"
#include "breakwatch/compare/gate.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

// A row per model, and per mode if a side has several. Fields: model, mode, verdict, status_a, status_b, breaks_a,
// breaks_b, sites_a, sites_b, new_sites, gone_sites, changed_sites, note. `all`: also models that did not change.
Table ComparisonTable(const compare::Comparison& comparison, bool all);
// A row per site that is new, gone or changed its count. Fields: model, change ("new", "gone", "changed"), site_id,
// reason, gb_id, breaks_a, breaks_b, file, line, function, source_line.
Table SiteChangeTable(const compare::Comparison& comparison);
// A row per model, batch size and backend of measure modes. Fields: model, mode, backend, batch, seq, dynamic, verdict
// (better, worse, no difference, or empty), median_a_ms, low_a_ms, high_a_ms, median_b_ms, low_b_ms, high_b_ms, ratio
// (b / a), p_value, status_a, status_b.
Table LatencyChangeTable(const compare::Comparison& comparison);
// A row per reason. Fields: reason, gb_id, breaks_a, breaks_b, sites_a, sites_b, models_a, models_b.
Table ReasonChangeTable(const compare::Comparison& comparison);

// "30 models: 1 worse, 2 better, 27 the same. 30 models compared: 40 breaks at 12 sites in A, 31 breaks at 10 sites in
// B". Compared are the models with comparable numbers on both sides. One line, no line end.
std::string ComparisonSummary(const compare::Comparison& comparison);

// What RenderComparison renders. Owner: the caller; it outlives the call.
struct ComparisonReport {
  const compare::Comparison& comparison;
  // What the gate decides: the failures of kJunit, kSarif, kWarningsNg and kGithub. Null: there are none.
  const compare::GateDecision* gate = nullptr;
  bool is_gate = true;                     // the decision is also printed
  std::span<const ModelResult> results{};  // of B: the cases and sites of these formats
  std::string_view filter{};               // which results were selected, in a line; empty: all
  bool all = false;                        // text: also the models that did not change
  SystemTime made_at{};                    // kMail: its date; the epoch: the message has none
};

// Whether this format shows nothing but the comparison and the gate: `results` may be empty, and those of both sides as
// compare::KeepCompared leaves them.
bool ShowsComparisonAlone(Format format);

// Text: other differences, the tables, totals, summary, the gate's decision. JSON: all of it, as in
// schema/comparison.schema.json. CSV: ComparisonTable of all models. Other formats: see README.md.
std::string RenderComparison(const ComparisonReport& report, Format format, Style style = {});

// The gate's decision alone: a line per finding and the outcome. Text or JSON.
std::string RenderGate(const compare::GateDecision& gate, Format format);

// The combinations, the changed sites and their causes, the verdict. CSV: a row per combination.
std::string RenderBisection(const compare::Bisection& bisection, Format format, Style style = {});

}  // namespace breakwatch::report
