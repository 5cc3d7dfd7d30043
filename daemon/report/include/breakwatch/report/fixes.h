// Which fixes remove the breaks of models, as tables and whole documents. Pure.
#pragma once

#include <span>
#include <string>

#include "breakwatch/core/fix.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

// A row per attempt, in the order tried. Fields: fix, outcome, status, breaks_before, breaks, sites_before, sites,
// graphs_before, graphs, ops_before, ops, max_abs, seconds, detail. For people, the numbers are "3 -> 0".
Table FixTable(const TriedFixes& tried);

// A row per model of mode `fix`: what its best fix does. Fields: model, outcome, fix, breaks_before, breaks,
// sites_left, status, detail.
Table FixSummaryTable(std::span<const ModelResult> results);

// Model by model: the attempts, the Python of the best one, and the sites that nothing removes. JSON: {"schema",
// "models": [{model, revision, status, status_detail, reused, best: [names], outcome, fixes: as the worker sent it}]}.
// CSV: a row per attempt with the model in front; a model without attempts has one row.
std::string RenderFixes(std::span<const ModelResult> results, Format format, Style style = {});

// For the report of a model: everything that was tried; and in one line, such as "whole with
// capture_scalar_outputs (3 breaks -> 0)". Empty if this result is not of mode `fix`.
std::string FixesText(const ModelResult& result, Format format, Style style = {});
std::string FixesLine(const ModelResult& result);

}  // namespace breakwatch::report
