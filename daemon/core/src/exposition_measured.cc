// The series of profiles and benchmarks.
#include <array>
#include <vector>

#include "breakwatch/core/family.h"
#include "breakwatch/core/mode.h"
#include "exposition_labels.h"

namespace breakwatch {
namespace {

struct MeasuredRow {
  std::string labels;
  const Measurement* latency;  // of the newest profile or benchmark; null: none
  const Measurement* profile;  // of the newest profile; null: none
};

std::vector<MeasuredRow> MeasuredRows(const Snapshot& snapshot, Shard shard) {
  static constexpr std::array kBoth = {kBenchMode, kProfileMode};
  static constexpr std::array kProfile = {kProfileMode};
  std::vector<MeasuredRow> rows;
  for (const TrackedModel& model : snapshot.models) {
    if (model.measured.empty() || !IsInShard(model.model, shard)) continue;
    MeasuredRow row{{}, snapshot.MeasurementOf(model, kBoth), snapshot.MeasurementOf(model, kProfile)};
    if (row.latency == nullptr) continue;
    row.labels =
        Labels({{"family", FamilyName(model.family)}, {"model", model.model}, {"commit", row.latency->commit}});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void WriteMeasurements(ExpositionWriter& out, const Snapshot& snapshot, Shard shard) {
  static constexpr SeriesFamily kLatency{
      "breakwatch_latency_seconds", "gauge",
      "Wall time of one call in the newest profile or benchmark, by backend and quantile."};
  static constexpr SeriesFamily kCompile{"breakwatch_compile_seconds", "gauge",
                                         "Compile time in the newest profile or benchmark, by backend."};
  static constexpr SeriesFamily kShare{
      "breakwatch_profile_share", "gauge",
      "Share of a call that runs in graphs, and in Python between them, in the newest profile."};
  const std::vector<MeasuredRow> rows = MeasuredRows(snapshot, shard);
  out.Begin(kLatency);
  for (const MeasuredRow& row : rows) {
    for (const BackendTimes& times : row.latency->backends) {
      for (const auto& [quantile, seconds] : times.latency_s)
        out.Sample(row.labels, ',' + Labels({{"backend", times.backend}, {"quantile", quantile}}), seconds);
    }
  }
  out.Begin(kCompile);
  for (const MeasuredRow& row : rows) {
    for (const BackendTimes& times : row.latency->backends) {
      if (times.compile_s) out.Sample(row.labels, ',' + Labels({{"backend", times.backend}}), *times.compile_s);
    }
  }
  out.Begin(kShare);
  for (const MeasuredRow& row : rows) {
    if (row.profile == nullptr || !row.profile->graphs_share) continue;
    out.Sample(row.labels, R"(,segment="graphs")", *row.profile->graphs_share);
    out.Sample(row.labels, R"(,segment="breaks")", 1 - *row.profile->graphs_share);
  }
}

}  // namespace breakwatch
