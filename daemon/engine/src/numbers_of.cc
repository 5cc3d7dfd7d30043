#include "numbers_of.h"

#include <map>
#include <string>
#include <utility>

#include "breakwatch/core/fixability.h"
#include "breakwatch/core/measure.h"
#include "breakwatch/core/reason_url.h"

namespace breakwatch::engine {
namespace {

using ReasonKey = std::pair<std::string, std::string>;  // reason, gb_id

// Break events without a site. They need a reason, or the model would seem to have no breaks.
constexpr char kUnattributed[] = "unattributed";

SystemTime CapturedAt(const ModelResult& result) {
  return result.capture.started_at == SystemTime{} ? result.finished_at : result.capture.started_at;
}

BackendTimes TimesOf(const std::string& backend, const MeasuredCell& cell) {
  BackendTimes times{backend, {}, cell.compile_s};
  const std::pair<const char*, std::optional<double>> quantiles[] = {
      {"0.5", cell.p50_s}, {"0.9", cell.p90_s}, {"0.95", cell.p95_s}, {"0.99", cell.p99_s}};
  for (const auto& [quantile, seconds] : quantiles) {
    if (seconds) times.latency_s[quantile] = *seconds;
  }
  return times;
}

std::optional<double> GraphsShare(const MeasuredCell& total) {
  if (!total.ok() || !total.graphs_s || !total.python_s) return std::nullopt;
  const double sum = *total.graphs_s + *total.python_s;
  return sum > 0 ? std::optional(*total.graphs_s / sum) : std::nullopt;
}

}  // namespace

Numbers NumbersOf(const ModelResult& result) {
  const CaptureResult& capture = result.capture;
  Numbers numbers;
  numbers.commit = result.info.sha;
  numbers.capture_id = result.capture_id;
  numbers.structure = result.structure;
  numbers.sweep_id = result.sweep_id;
  numbers.captured_at = CapturedAt(result);
  numbers.graphs = capture.graphs.value_or(0);
  numbers.ops_captured = capture.ops_captured.value_or(0);
  numbers.frames_fallback = capture.frames_fallback.value_or(0);
  numbers.recompiles = capture.recompiles.value_or(0);
  numbers.dynamo_counter_breaks = capture.dynamo_counter_breaks.value_or(0);
  numbers.explain_breaks = capture.explain_breaks.value_or(0);
  numbers.phase_s = capture.phase_s;

  std::map<ReasonKey, ReasonCount> counts;
  std::int64_t attributed = 0;
  for (const BreakSite& site : capture.sites) {
    ReasonCount& count = counts[{site.reason, site.gb_id}];
    count.reason = site.reason;
    count.gb_id = site.gb_id;
    if (count.fixability.empty()) count.fixability = site.fixability;
    count.events += site.occurrences;
    count.sites += 1;
    attributed += site.occurrences;
  }
  if (const std::int64_t rest = capture.breaks.value_or(0) - attributed; rest > 0) {
    counts[{kUnattributed, ""}] = {kUnattributed, "", "none", rest, 0};
  }
  for (auto& [key, count] : counts) numbers.reasons.push_back(std::move(count));
  return numbers;
}

std::optional<Measurement> MeasurementOf(const ModelResult& result) {
  const auto measured = ReadMeasured(result.capture.mode_detail_json);
  if (!measured || measured->profiles.empty()) return std::nullopt;
  const MeasuredCells& totals = measured->profiles.front().totals;
  Measurement measurement;
  measurement.commit = result.info.sha;
  measurement.capture_id = result.capture_id;
  measurement.measured_at = CapturedAt(result);
  for (const auto& [backend, cell] : totals) {
    if (cell.ok() && cell.p50_s) measurement.backends.push_back(TimesOf(backend, cell));
  }
  if (measurement.backends.empty()) return std::nullopt;
  for (const char* backend : {"inductor", "eager"}) {
    const auto total = totals.find(backend);
    if (measurement.graphs_share || total == totals.end()) continue;
    measurement.graphs_share = GraphsShare(total->second);
  }
  return measurement;
}

std::vector<ReasonInfo> ReasonsOf(const Snapshot& snapshot) {
  std::map<ReasonKey, ReasonInfo> reasons;
  std::map<ReasonKey, std::vector<std::string_view>> fixability;
  for (const TrackedModel& model : snapshot.models) {
    const Numbers* numbers = snapshot.NumbersOf(model);
    if (numbers == nullptr) continue;
    for (const ReasonCount& count : numbers->reasons) {
      ReasonInfo& info = reasons[{count.reason, count.gb_id}];
      info.reason = count.reason;
      info.gb_id = count.gb_id;
      if (info.category.empty()) info.category = count.fixability;
      info.url = ReasonUrl(count.gb_id);
      info.leverage += numbers->reasons.size() == 1 ? 1 : 0;
      const FixEffects* effects = snapshot.FixesOf(model);
      const ReasonFixes* fixes = effects != nullptr ? effects->OfReason(count.reason, count.gb_id) : nullptr;
      fixability[{count.reason, count.gb_id}].push_back(fixes != nullptr ? fixes->fixability : kUntested);
    }
  }
  std::vector<ReasonInfo> ordered;
  for (auto& [key, info] : reasons) {
    info.fixability = MostSeen(fixability[key]);
    ordered.push_back(std::move(info));
  }
  return ordered;
}

}  // namespace breakwatch::engine
