// What a sweep found, as tables and whole documents. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/report/table.h"

namespace breakwatch::compare {
struct GateDecision;
}

namespace breakwatch::report {

// A row per model and mode. Fields: model, revision, family, mode, status, graphs, breaks, break_sites, ops_captured,
// capture_s, peak_rss_mb, reused, shared_from, config_source, owner, status_detail, differs (DifferenceTable's texts).
Table ResultTable(std::span<const ModelResult> results, std::span<const ModelResult> others = {});

// A row per pair of results of one model, commit and toolchain that differ only by mode or call: eval (the steady
// state) and cold (the first call), a mode's default call and its variants. `others`: results of earlier sweeps to
// compare with. Fields: model, mode, other_mode, status, other_status, breaks, other_breaks, break_sites,
// other_break_sites, text.
Table DifferenceTable(std::span<const ModelResult> results, std::span<const ModelResult> others = {});

enum class ReasonOrder { kEvents, kSites, kModels, kLeverage };
std::optional<ReasonOrder> ParseReasonOrder(std::string_view name);  // "events", "sites", "models", "leverage"

// A row per (reason, gb_id) of the main mode's results (where there are none, of the first result's mode), most first.
// Fields: reason, gb_id, fixability (measured: core/fixability.h), events, sites, models, leverage (models whose breaks
// all have this reason), fix (that alone removed every event of it on most models), fixed_models (on how many),
// tried_models (on which fixes were tried), made_whole (of those of leverage: whole by the recommended fix),
// leverage_downloads, made_whole_downloads (of their models), families, example_model, example_site, category
// (Dynamo's), url. At most `limit` rows, 0: all. `tried`: results of mode fix, beside those in `results`.
Table ReasonTable(std::span<const ModelResult> results, ReasonOrder order = ReasonOrder::kEvents, std::size_t limit = 0,
                  std::span<const ModelResult> tried = {});

// A row per (status, detail, mode) of models without numbers, most first. Fields: status, mode, phase, status_detail,
// suggestion, models, example_model, error.
Table FailureTable(std::span<const ModelResult> results);

// A row per sweep. Fields: sweep_id, trigger, source, toolchain, modes, state, complete, started_at, duration_s,
// planned, full_graph, graph_breaks, failed, skipped, torch.
Table SweepsTable(std::span<const Sweep> sweeps);

// A row per model and mode. Fields: rank, model, revision, family, mode, action, reason, status, status_detail,
// config_source, structure.
Table PlanTable(const Plan& plan);

// "30 models: 21 full_graph, 6 graph_breaks, 3 skipped_gated; 27 of 30 have numbers". One line, no line end.
std::string SummaryLine(const Sweep& sweep);

// What RenderSweep renders. Owner: the caller; it outlives the call.
struct SweepReport {
  const Sweep& sweep;
  std::span<const ModelResult> results;
  std::span<const ModelResult> others{};        // as in DifferenceTable
  const compare::GateDecision* gate = nullptr;  // null: there was no gate
  std::string_view filter{};                    // which results were selected, in a line; empty: all
  SystemTime made_at{};                         // kMail: its date; the epoch: when the sweep ended
};

// Text: the table, differences between modes and calls, top reasons, failures, summary. JSON: all of it, as in
// schema/sweep.schema.json. CSV: the rows of ResultTable. Other formats: see README.md.
std::string RenderSweep(const SweepReport& report, Format format, Style style = {});

// {"plan": fields of a plan without configs, "models": rows of PlanTable} for JSON; else the table and counts by
// action.
std::string RenderPlan(const Plan& plan, Format format, Style style = {});

// Of the newest results of a model, the one of this mode and toolchain: the first match. No mode means eval, or
// the first result without eval. Null without a match.
const ModelResult* SelectResult(std::span<const ModelResult> results, std::string_view mode,
                                std::string_view toolchain);

// Everything known about one model: status, numbers, commit, structure, graphs and what ended each, sites with file,
// line, function, source, module, reason and its page, hints, inputs, versions, times; what the mode found; how it
// differs from the first call or another call (JSON: "differences"); and in a line (JSON: "other_results") the results
// of other modes and toolchains in `all`. CSV: a row per site.
std::string RenderModel(const ModelResult& result, Format format, Style style = {},
                        std::span<const ModelResult> all = {});

}  // namespace breakwatch::report
