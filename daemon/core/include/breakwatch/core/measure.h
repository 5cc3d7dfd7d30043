// Measurements of what the parts of a model cost: the options of modes `profile` and `bench`, and what they found.
// All times are wall seconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch {

// What a measurement can run a graph with, in the order of tables.
inline constexpr std::array<std::string_view, 5> kBackends = {"eager", "inductor", "aot_inductor", "onnxruntime",
                                                              "torchscript"};
// In totals: the model called without torch.compile.
inline constexpr std::string_view kPlain = "plain";

struct MeasureOptions {
  std::vector<std::string> backends{kBackends.begin(), kBackends.end()};
  std::vector<int> batches{1};
  int seq = 0;           // length of sequences; 0: that of the recipe
  bool dynamic = false;  // one more profile, with dynamic shapes
  int threads = 1;
  std::string device = "cpu";  // or "cuda"
  bool full = false;           // the configuration as published, with random weights; otherwise the reduced model
  int min_runs = 30;           // a measurement ends after this many runs and after min_s
  double min_s = 5;
  std::string dtype{};  // of the job, so not part of MeasureJson; empty: the model's own

  bool operator==(const MeasureOptions&) const = default;
};

// Error: kUsage, naming the option and the values that it accepts.
Result<void> CheckMeasure(const MeasureOptions& options);
// The protocol's `measure` object: equal options give equal bytes.
std::string MeasureJson(const MeasureOptions& options);
// The same with `dtype`, as in a request.
std::string ToJson(const MeasureOptions& options);
// Missing fields keep their defaults. Error: kUsage for an unknown field or a wrong value.
Result<MeasureOptions> MeasureOptionsFromJson(std::string_view text, MeasureOptions defaults = {});

// The machine of a measurement: its CPU model, cores and memory, "AMD EPYC 7B13, 2 cores, 23 GiB". Times of different
// machines are not compared, and not reused.
std::string MachineName();
// `cpuinfo`, `meminfo`: the texts of those files of /proc.
std::string MachineName(std::string_view cpuinfo, std::string_view meminfo, long cores);
// A worker's CaptureResult::mode_detail_json with the machine, which the worker does not know; unchanged if it is no
// JSON object.
std::string WithMachine(std::string mode_detail_json, const std::string& machine);

// One measured thing with one backend. Numbers that were not measured are absent.
struct MeasuredCell {
  std::string status;  // ok failed timeout skipped out_of_memory wrong_result
  std::string detail;  // empty if ok
  std::int64_t runs = 0, failures = 0;
  std::optional<double> mean_s, median_s, low_s, high_s;  // low to high: 95 % interval of the median
  std::optional<double> p50_s, p90_s, p95_s, p99_s;
  std::optional<double> share;  // of the backend's total; segments only
  std::optional<double> compile_s;
  std::optional<double> graphs_s, python_s;  // medians of the parts; totals of a profile only
  std::optional<double> throughput;          // items in a second; totals only
  std::optional<double> peak_rss_mb;         // MiB; totals of a benchmark only

  bool ok() const { return status == "ok"; }
};
using MeasuredCells = std::map<std::string, MeasuredCell>;  // by backend

// A graph, or the Python code between two graphs, at the start or at the end of a call.
struct MeasuredSegment {
  int index = 0;  // from 0
  bool is_graph = false;
  int graph = 0;           // from 1; graphs only
  std::int64_t calls = 0;  // in one run of the model
  std::string compile_id, file, function;
  int line = 0;  // 0: unknown
  std::optional<std::int64_t> ops;
  std::string ended_by;  // BreakSite::site_id of the break before this Python code; empty: start or end of the call
  MeasuredCells cells;
};

struct BreakCost {
  std::string site_id, reason, gb_id;
  std::int64_t occurrences = 0;
  std::optional<double> between_s;  // median of the Python code that the break caused, in one run
  std::optional<double> fusion_s;   // what fusion across the break would save; negative: it would cost
  std::int64_t shared_with = 0;     // other sites with which fusion_s is shared
  std::string why_not;              // why fusion_s is absent
  std::string backend;              // both were measured with it
};

struct MeasuredWhole {
  bool available = false;
  std::string how, why_not;
  MeasuredCells cells;
};

// The measurement of one batch size.
struct MeasuredProfile {
  int batch = 1, seq = 0;
  bool dynamic = false;
  std::string inputs_json;
  std::int64_t discarded_runs = 0, recompiles = 0;
  std::vector<MeasuredSegment> segments;  // empty in a benchmark
  MeasuredCells totals;                   // also kPlain
  MeasuredWhole whole;
  std::vector<BreakCost> break_costs;
};

// The state of the machine, by a fixed loop before and after the measurement.
struct MeasuredNoise {
  std::optional<double> median_s, spread, after_spread;  // spread: interquartile range / median
  bool quiet = true;
};

struct Measured {
  MeasureOptions options;  // with the dtype that was used
  std::string machine;     // MachineName(); empty: unknown
  bool published = false;  // the configuration as published, not the reduced one
  MeasuredNoise noise;
  std::vector<MeasuredProfile> profiles;
};

// Reads CaptureResult::mode_detail_json of a measure mode. Long texts are cut, as they come from a worker.
// Error: kInvalid, naming the field.
Result<Measured> ReadMeasured(std::string_view mode_detail_json);

// How two medians differ, by their 95 % intervals.
struct LatencyDifference {
  double ratio = 1;    // b / a
  double p_value = 1;  // of the hypothesis that the medians are equal; two-sided
  bool significant = false;
};
// nullopt if one of the two has no median or no interval.
std::optional<LatencyDifference> CompareLatency(const MeasuredCell& a, const MeasuredCell& b);

}  // namespace breakwatch
