// What profiles and benchmarks measured, as tables and whole documents. Times are milliseconds. Pure.
#pragma once

#include <span>
#include <string>

#include "breakwatch/core/measure.h"
#include "breakwatch/core/prices.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

// A row per segment and backend. Fields: segment, kind (graph, python), graph, name, place, file, line, function,
// site_id, reason (of the break before Python code), ops, calls, backend, runs, mean_ms, median_ms, low_ms, high_ms,
// p95_ms, share, failures, status, detail.
Table SegmentCostTable(const MeasuredProfile& profile, const CaptureResult& capture);

// A row per backend, first that without torch.compile. Fields: backend, graphs_ms, python_ms, median_ms, low_ms,
// high_ms, p95_ms, runs, failures, compile_s, throughput, ratio, p_value, against_plain ("1.80x faster", "no
// difference"), status, detail.
Table TotalCostTable(const MeasuredProfile& profile);

// A row per break. Fields: site_id, reason, gb_id, place, occurrences, between_ms, fusion_ms, shared_with, why_not.
Table BreakCostTable(const MeasuredProfile& profile, const CaptureResult& capture);

// A row per machine and backend. Fields: machine, backend, price_per_hour, cost_per_million, currency.
Table PriceTable(const MeasuredProfile& profile, const MeasureOptions& options, const Prices& prices);

// "quiet: 1.2 % spread before, 1.4 % after" or "too noisy: ...".
std::string NoiseText(const MeasuredNoise& noise);
// "batch 1, 16 tokens, float32 on cpu, 1 thread, reduced model".
std::string ConditionsText(const Measured& measured, const MeasuredProfile& profile);

// Profiles, model by model. JSON: {"schema", "models": [{model, revision, status, status_detail, reused, measured: as
// the worker sent it, profiles: [{batch, seq, dynamic, segments, totals, breaks, prices}]}]}, the tables as rows.
// CSV: a row per segment and per total with the model in front. `prices`: null: no costs.
std::string RenderProfiles(std::span<const ModelResult> results, const Prices* prices, Format format, Style style = {});

// A row per model, batch size and backend; a model that was not measured has one row. The fields never change: model,
// author, class, parameters, hash, task, license, inputs, batch, backend, device, dtype, threads, mean_ms, median_ms,
// low_ms, high_ms, p90_ms, p95_ms, p99_ms, throughput, compile_s, peak_mb, status, detail.
Table BenchTable(std::span<const ModelResult> results);
// The table; for people also a line per noisy machine and the conditions.
std::string RenderBench(std::span<const ModelResult> results, Format format, Style style = {});

// For the report of a model: everything that this result measured, empty if it measured nothing; and in one line, such
// as "plain 3.100 ms, inductor 1.240 ms (2.50x faster)".
std::string MeasuredText(const ModelResult& result, Format format, Style style = {});
std::string MeasuredLine(const ModelResult& result);

// A row per reason, most milliseconds in one call of each profiled model first. Fields: reason, gb_id, cost_ms
// (between_ms + fusion_ms), between_ms, fusion_ms, unmeasured (sites whose fusion_ms is unknown), sites, models,
// ms_downloads (cost_ms times the downloads of each model), example_model, profiled_models (of all rows).
Table CostlyReasonTable(std::span<const ModelResult> profiles, std::size_t limit = 0);

}  // namespace breakwatch::report
