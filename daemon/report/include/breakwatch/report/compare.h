// Comparisons and bisections as tables and documents. Pure.
#pragma once

#include <string>

#include "breakwatch/compare/attribute.h"
#include "breakwatch/compare/compare.h"
#include "breakwatch/compare/gate.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

// A row per model, and per mode if a side has several. Fields: model, mode, verdict, status_a, status_b, breaks_a,
// breaks_b, sites_a, sites_b, new_sites, gone_sites, changed_sites, note. `all`: also models that did not change.
Table ComparisonTable(const compare::Comparison& comparison, bool all);
// A row per site that is new, gone or changed its count. Fields: model, change ("new", "gone", "changed"), site_id,
// reason, gb_id, breaks_a, breaks_b, file, line, function, source_line.
Table SiteChangeTable(const compare::Comparison& comparison);
// A row per reason. Fields: reason, gb_id, breaks_a, breaks_b, sites_a, sites_b, models_a, models_b.
Table ReasonChangeTable(const compare::Comparison& comparison);

// "30 models: 1 worse, 2 better, 27 the same. 30 models compared: 40 breaks at 12 sites in A, 31 breaks at 10 sites in
// B". Compared are the models with comparable numbers on both sides. One line, no line end.
std::string ComparisonSummary(const compare::Comparison& comparison);

// Text and Markdown: other differences, the tables, totals, summary, the gate's decision if given. JSON: all of it.
// CSV: ComparisonTable of all models.
std::string RenderComparison(const compare::Comparison& comparison, Format format, Style style = {}, bool all = false,
                             const compare::GateDecision* gate = nullptr);

// The gate's decision alone: a line per finding and the outcome. Text or JSON.
std::string RenderGate(const compare::GateDecision& gate, Format format);

// The combinations, the changed sites and their causes, the verdict. CSV: a row per combination.
std::string RenderBisection(const compare::Bisection& bisection, Format format, Style style = {});

}  // namespace breakwatch::report
