#include "breakwatch/core/openmetrics.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "exposition_writer.h"

namespace breakwatch {
namespace {

using Value = std::optional<double>;

double Real(std::int64_t value) { return static_cast<double>(value); }

template <std::int64_t TrendNumbers::*kNumber>
Value Number(const TrendNumbers& numbers) {
  return Real(numbers.*kNumber);
}
// As the recording rules: a sum over models is absent if no model has numbers.
template <std::int64_t TrendNumbers::*kNumber>
Value Sum(const TrendNumbers& numbers) {
  return numbers.models_with_numbers == 0 ? std::nullopt : Number<kNumber>(numbers);
}
Value FullGraph(const TrendNumbers& numbers) {
  return numbers.models_with_numbers == 0 ? 0 : Real(numbers.full_graph) / Real(numbers.models_with_numbers);
}
Value BreaksPerModel(const TrendNumbers& numbers) {
  if (numbers.models_with_numbers == 0) return std::nullopt;
  return Real(numbers.breaks) / Real(numbers.models_with_numbers);
}
Value ModelsOfReason(const TrendNumbers& numbers) {
  return numbers.models == 0 ? std::nullopt : Number<&TrendNumbers::models>(numbers);
}

struct TrendMetric {
  SeriesFamily family;
  TrendScope scope;
  Value (*value)(const TrendNumbers&);  // absent: no sample
  bool of_all_pools = false;            // the rule sums over pools: only one daemon without a pool knows the value
};

constexpr TrendMetric kMetrics[] = {
    {{"breakwatch:models_tracked:count", "gauge", "Tracked models."},
     TrendScope::kAll,
     Number<&TrendNumbers::models_tracked>},
    {{"breakwatch:models_with_numbers:count", "gauge", "Tracked models with numbers."},
     TrendScope::kAll,
     Number<&TrendNumbers::models_with_numbers>},
    {{"breakwatch:full_graph:ratio", "gauge", "Share of models with numbers that have no break."},
     TrendScope::kAll,
     FullGraph},
    {{"breakwatch:compile_breaks:sum", "gauge", "Break events of all models."},
     TrendScope::kAll,
     Sum<&TrendNumbers::breaks>},
    {{"breakwatch:compile_break_sites:sum", "gauge", "Break sites of all models."},
     TrendScope::kAll,
     Sum<&TrendNumbers::break_sites>},
    {{"breakwatch:compile_breaks_per_model:ratio", "gauge", "Break events for each model with numbers."},
     TrendScope::kAll,
     BreaksPerModel},
    {{"family:breakwatch_models_tracked:count", "gauge", "Tracked models of a family."},
     TrendScope::kFamily,
     Number<&TrendNumbers::models_tracked>},
    {{"family:breakwatch_models_with_numbers:count", "gauge", "Tracked models of a family with numbers."},
     TrendScope::kFamily,
     Number<&TrendNumbers::models_with_numbers>},
    {{"family:full_graph:ratio", "gauge", "Share of the family's models with numbers that have no break."},
     TrendScope::kFamily,
     FullGraph},
    {{"family:compile_breaks:sum", "gauge", "Break events of a family."},
     TrendScope::kFamily,
     Sum<&TrendNumbers::breaks>},
    {{"family:compile_break_sites:sum", "gauge", "Break sites of a family."},
     TrendScope::kFamily,
     Sum<&TrendNumbers::break_sites>},
    {{"reason:compile_breaks:sum", "gauge", "Break events of a reason."},
     TrendScope::kReason,
     Number<&TrendNumbers::breaks>},
    {{"reason:compile_break_sites:sum", "gauge", "Break sites of a reason."},
     TrendScope::kReason,
     Number<&TrendNumbers::break_sites>},
    {{"reason:compile_models:count", "gauge", "Models with breaks of a reason."}, TrendScope::kReason, ModelsOfReason},
    {{"reason:breakwatch_leverage:sum", "gauge", "Models whose breaks all have this reason."},
     TrendScope::kReason,
     Number<&TrendNumbers::leverage>,
     /*of_all_pools=*/true},
    {{"breakwatch_reason_leverage", "gauge", "Models whose breaks all have this reason."},
     TrendScope::kReason,
     Number<&TrendNumbers::leverage>},
};

std::string LabelsOf(const TrendRow& row, const SeriesGroup& group) {
  std::string labels;
  AppendLabel(labels, "job", group.job);
  if (!group.pool.empty()) AppendLabel(labels, "pool", group.pool);
  if (row.scope == TrendScope::kFamily) AppendLabel(labels, "family", row.name);
  if (row.scope == TrendScope::kReason) AppendLabel(labels, "reason", row.name);
  // In Prometheus an empty label is an absent one.
  if (!row.gb_id.empty()) AppendLabel(labels, "gb_id", row.gb_id);
  return labels;
}

using Point = std::pair<std::int64_t, const TrendNumbers*>;  // seconds since 1970

std::map<std::string, std::vector<Point>> SeriesOf(std::span<const TrendFold> folds, TrendScope scope,
                                                   const SeriesGroup& group) {
  std::map<std::string, std::vector<Point>> series;
  for (const TrendFold& fold : folds) {
    const auto at = std::chrono::floor<std::chrono::seconds>(fold.at).time_since_epoch().count();
    for (const TrendRow& row : fold.rows) {
      if (row.scope == scope) series[LabelsOf(row, group)].emplace_back(at, &row.numbers);
    }
  }
  return series;
}

}  // namespace

void WriteOpenMetrics(std::span<const TrendFold> folds, const SeriesGroup& group, const TextSink& sink) {
  ExpositionWriter out(sink);
  std::map<TrendScope, std::map<std::string, std::vector<Point>>> series;
  for (const TrendScope scope : {TrendScope::kAll, TrendScope::kFamily, TrendScope::kReason})
    series[scope] = SeriesOf(folds, scope, group);
  for (const TrendMetric& metric : kMetrics) {
    if (metric.of_all_pools && !group.pool.empty()) continue;
    out.Begin(metric.family);
    for (const auto& [labels, points] : series[metric.scope]) {
      for (const auto& [at, numbers] : points)
        if (const Value value = metric.value(*numbers)) out.SampleAt(labels, *value, at);
    }
  }
  out.Finish();
  sink("# EOF\n");
}

}  // namespace breakwatch
