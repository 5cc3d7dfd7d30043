#include "breakwatch/core/exposition.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "breakwatch/core/family.h"
#include "breakwatch/core/mode.h"
#include "exposition_labels.h"
#include "exposition_writer.h"

#ifndef BREAKWATCH_VERSION
#define BREAKWATCH_VERSION "unknown"
#endif

namespace breakwatch {
namespace {

double Seconds(SystemTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }
double Seconds(std::chrono::milliseconds span) { return std::chrono::duration<double>(span).count(); }

// FNV-1a: the same result on every machine and in every version, so a model keeps its shard.
std::uint64_t StableHash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 1099511628211u;
  return hash;
}

// Caches the label text of each (reason, gb_id), because a million series share a few hundred of them.
class ReasonLabels {
 public:
  const std::string* Of(const ReasonCount& count) {
    std::string key = count.gb_id + '\0' + count.reason;
    const auto [at, is_new] = by_key_.try_emplace(std::move(key), nullptr);
    if (is_new) at->second = Intern(',' + Labels({{"reason", count.reason}, {"gb_id", count.gb_id}}));
    return at->second;
  }
  const std::string* Intern(std::string text) { return &*texts_.insert(std::move(text)).first; }

 private:
  std::unordered_map<std::string, const std::string*> by_key_;
  std::set<std::string> texts_;  // two reasons may be equal after truncation; they then become one series
};

struct ReasonRow {
  const std::string* labels;
  std::int64_t events, sites;
};

// A model with its text labels, formatted once and used by every family. Most commits need no escape: they are parts of
// the model's own strings.
struct ModelRow {
  const TrackedModel* model;
  const Numbers* numbers;  // null: no numbers are published
  std::string labels;      // family and model
  std::string_view status_commit, commit, number_commit;
  std::size_t first_reason, end_reason;  // in ModelRows::reasons
};

struct ModelRows {
  std::vector<ModelRow> models;
  std::vector<ReasonRow> reasons;

  std::span<const ReasonRow> ReasonsOf(const ModelRow& row) const {
    return std::span(reasons).subspan(row.first_reason, row.end_reason - row.first_reason);
  }
};

void AddReasonRows(const Numbers& numbers, ReasonLabels& cache, std::vector<ReasonRow>& rows) {
  static const ReasonCount kClean{"none", "", "", 0, 0};
  const auto first = static_cast<std::ptrdiff_t>(rows.size());
  if (numbers.reasons.empty()) rows.push_back({cache.Of(kClean), 0, 0});
  for (const ReasonCount& count : numbers.reasons) {
    const std::string* labels = cache.Of(count);
    const auto same =
        std::find_if(rows.begin() + first, rows.end(), [&](const ReasonRow& row) { return row.labels == labels; });
    if (same == rows.end()) {
      rows.push_back({labels, count.events, count.sites});
    } else {  // the gateway would reject the whole push for a duplicate series
      same->events += count.events;
      same->sites += count.sites;
    }
  }
}

std::vector<ReasonRow> ReasonRows(const Numbers& numbers, ReasonLabels& cache) {
  std::vector<ReasonRow> rows;
  AddReasonRows(numbers, cache, rows);
  return rows;
}

// The value of a label as it is written: the text itself if it can be.
std::string_view Written(const std::string& text, ReasonLabels& cache) {
  constexpr std::string_view kPlain = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-";
  if (text.size() <= kMaxLabelBytes && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string escaped;
  AppendEscaped(escaped, Truncate(ToUtf8(text), kMaxLabelBytes));
  return *cache.Intern(std::move(escaped));
}

ModelRows RowsOf(const Snapshot& snapshot, Shard shard, ReasonLabels& cache) {
  ModelRows rows;
  rows.models.reserve(snapshot.models.size() / std::max<std::size_t>(1, shard.count));
  for (const TrackedModel& model : snapshot.models) {
    if (!IsInShard(model.model, shard)) continue;
    ModelRow row{&model, snapshot.NumbersOf(model), {}, {}, {}, {}, rows.reasons.size(), rows.reasons.size()};
    row.labels = Labels({{"family", FamilyName(model.family)}, {"model", model.model}});
    row.labels.shrink_to_fit();
    row.status_commit = Written(model.status_commit, cache);
    row.commit = Written(model.commit, cache);
    if (row.numbers != nullptr) {
      row.number_commit = Written(row.numbers->commit, cache);
      AddReasonRows(*row.numbers, cache, rows.reasons);
      row.end_reason = rows.reasons.size();
    }
    rows.models.push_back(std::move(row));
  }
  return rows;
}

// The text of one label by its value, with the comma before it: a series of each model has one of a few values.
class LabelTexts {
 public:
  explicit LabelTexts(std::string_view name) : name_(name) {}
  const std::string& Of(std::string_view value) {
    const auto known = texts_.find(value);
    if (known != texts_.end()) return known->second;
    return texts_.emplace(value, ',' + Labels({{name_, value}})).first->second;
  }

 private:
  const std::string_view name_;
  std::map<std::string, std::string, std::less<>> texts_;
};

struct NumberFamily {
  SeriesFamily family;
  std::int64_t Numbers::*value;
};
constexpr NumberFamily kNumberFamilies[] = {
    {{"compile_graphs", "gauge", "Graphs that Dynamo made."}, &Numbers::graphs},
    {{"compile_ops_captured", "gauge", "Operations in the captured graphs, at reduced depth."}, &Numbers::ops_captured},
    {{"compile_frames_fallback", "gauge", "Frames that Dynamo returned to the interpreter completely."},
     &Numbers::frames_fallback},
    {{"compile_recompiles", "gauge", "Compilations of a frame beyond the first."}, &Numbers::recompiles},
    {{"compile_dynamo_counter_breaks", "gauge",
      "Sum of Dynamo's graph_break counters (torch._dynamo.utils.counters), which PyTorch's CI tracks."},
     &Numbers::dynamo_counter_breaks},
    {{"compile_explain_breaks", "gauge", "Graphs - 1, the break count of torch._dynamo.explain."},
     &Numbers::explain_breaks},
};

void WriteNumbers(ExpositionWriter& out, const ModelRows& rows) {
  static constexpr SeriesFamily kBreaks{
      "compile_breaks_total", "counter",
      "Break events of the newest successful capture: a state, never use rate() or increase(). A model without breaks "
      "has one series, reason none, with value 0."};
  static constexpr SeriesFamily kSites{"compile_break_sites", "gauge", "Break sites behind the break events."};
  const auto write = [&](const SeriesFamily& family, std::int64_t ReasonRow::*value) {
    out.Begin(family);
    for (const ModelRow& row : rows.models)
      for (const ReasonRow& reason : rows.ReasonsOf(row))
        out.SampleOf(row.labels, row.number_commit, *reason.labels, reason.*value);
  };
  write(kBreaks, &ReasonRow::events);
  write(kSites, &ReasonRow::sites);
  for (const NumberFamily& number : kNumberFamilies) {
    out.Begin(number.family);
    for (const ModelRow& row : rows.models)
      if (row.numbers != nullptr) out.SampleOf(row.labels, row.number_commit, "", row.numbers->*number.value);
  }
}

void WriteModels(ExpositionWriter& out, const ModelRows& all, bool phases) {
  static constexpr SeriesFamily kStatus{"breakwatch_model_status", "gauge", "1 for the status of the last attempt."};
  static constexpr SeriesFamily kRank{
      "breakwatch_model_rank", "gauge",
      "Place in the newest ranking that contained the model, from 1; absent without a rank."};
  static constexpr SeriesFamily kDownloads{
      "breakwatch_model_downloads", "gauge",
      "Downloads of the last 30 days, as reported by the source; absent if unknown."};
  static constexpr SeriesFamily kInRanking{"breakwatch_model_in_ranking", "gauge",
                                           "1 while the model is in the newest complete ranking, else 0."};
  static constexpr SeriesFamily kCaptured{"breakwatch_model_last_capture_timestamp_seconds", "gauge",
                                          "When the published capture was made."};
  static constexpr SeriesFamily kDuration{
      "breakwatch_model_capture_duration_seconds", "gauge",
      "Wall time of the published capture by phase: create, inputs, eager, capture."};
  const std::vector<ModelRow>& rows = all.models;
  LabelTexts statuses("status"), phase_labels("phase");
  out.Begin(kStatus);
  for (const ModelRow& row : rows)
    out.SampleOf(row.labels, row.status_commit, statuses.Of(StatusName(row.model->status)), std::int64_t{1});
  out.Begin(kRank);
  for (const ModelRow& row : rows)
    if (!row.commit.empty() && row.model->rank > 0)
      out.SampleOf(row.labels, row.commit, "", std::int64_t{row.model->rank});
  out.Begin(kDownloads);
  for (const ModelRow& row : rows)
    if (!row.commit.empty() && row.model->downloads) out.SampleOf(row.labels, row.commit, "", *row.model->downloads);
  out.Begin(kInRanking);
  for (const ModelRow& row : rows)
    if (!row.commit.empty()) out.SampleOf(row.labels, row.commit, "", std::int64_t{row.model->in_ranking});
  out.Begin(kCaptured);
  for (const ModelRow& row : rows)
    if (row.numbers != nullptr) out.SampleOf(row.labels, row.number_commit, "", Seconds(row.numbers->captured_at));
  if (!phases) return;
  out.Begin(kDuration);
  for (const ModelRow& row : rows) {
    if (row.numbers == nullptr) continue;
    for (const auto& [phase, seconds] : row.numbers->phase_s)
      out.SampleOf(row.labels, row.number_commit, phase_labels.Of(phase), seconds);
  }
}

// The additionally published toolchains and modes, with the labels of each. If several toolchains have one name, only
// the newest is used, because their series would be equal.
std::vector<std::pair<std::string, std::string>> ExtraToolchains(const Snapshot& snapshot) {
  std::set<std::pair<std::string, std::string>> asked;  // name, mode
  for (const std::string& entry : snapshot.extra) {
    const std::size_t slash = std::min(entry.find('/'), entry.size());
    const std::string name = entry.substr(0, slash);
    const std::string main(name == kImport ? kImport : kMainMode);  // imports have this name instead of a mode
    const auto mode = asked.emplace(name, slash < entry.size() ? entry.substr(slash + 1) : main).first->second;
    // A first call is compared with the steady state, and a call variant with the default call.
    const ModeParts parts = SplitMode(mode);
    if (!parts.call.empty()) asked.emplace(name, parts.mode);
    if (parts.mode == kColdMode) asked.emplace(name, kMainMode);
  }
  std::vector<std::pair<std::string, std::string>> extra;
  for (const auto& [asked_name, mode] : asked) {
    const std::string& name = asked_name;
    const auto newest = std::find_if(snapshot.toolchains.rbegin(), snapshot.toolchains.rend(),
                                     [&](const Toolchain& toolchain) { return toolchain.name == name; });
    if (newest == snapshot.toolchains.rend()) continue;
    extra.emplace_back(NumbersKey(newest->Key(), mode), ',' + Labels({{"toolchain", name}, {"mode", mode}}));
  }
  return extra;
}

// The formatted numbers of one model in one toolchain and mode.
struct ExtraRow {
  std::string labels;  // empty: no numbers
  std::vector<ReasonRow> reasons;
  std::string status_labels;  // empty: no known attempt
  Status status = Status::kNotAttempted;
};

std::vector<ExtraRow> ExtraRows(const Snapshot& snapshot, const std::vector<ModelRow>& rows, ReasonLabels& cache) {
  std::vector<ExtraRow> out;
  for (const auto& [key, labels] : ExtraToolchains(snapshot)) {
    for (const ModelRow& row : rows) {
      const auto with = [&, toolchain = labels](const std::string& commit) {
        return Labels({{"family", FamilyName(row.model->family)}, {"model", row.model->model}, {"commit", commit}}) +
               toolchain;
      };
      ExtraRow extra;
      if (const auto found = row.model->numbers.find(key); found != row.model->numbers.end()) {
        extra.labels = with(found->second.commit);
        extra.reasons = ReasonRows(found->second, cache);
      }
      if (const auto found = row.model->attempts.find(key); found != row.model->attempts.end()) {
        extra.status_labels = with(found->second.commit);
        extra.status = found->second.status;
      }
      out.push_back(std::move(extra));
    }
  }
  return out;
}

void WriteExtra(ExpositionWriter& out, const std::vector<ExtraRow>& rows) {
  static constexpr SeriesFamily kBreaks{"breakwatch_breaks", "gauge",
                                        "Break events by the toolchains and modes in metrics.extra."};
  static constexpr SeriesFamily kStatus{
      "breakwatch_mode_status", "gauge",
      "1 for the status of the last attempt by the toolchains and modes in metrics.extra."};
  out.Begin(kBreaks);
  for (const ExtraRow& row : rows)
    for (const ReasonRow& reason : row.reasons) out.Sample(row.labels, *reason.labels, reason.events);
  out.Begin(kStatus);
  for (const ExtraRow& row : rows) {
    if (row.status_labels.empty()) continue;
    out.Sample(row.status_labels, ',' + Labels({{"status", StatusName(row.status)}}), std::int64_t{1});
  }
}

void WriteReasons(ExpositionWriter& out, const std::vector<ReasonInfo>& reasons) {
  static constexpr SeriesFamily kInfo{"breakwatch_reason_info", "gauge", "1; what is known about a reason."};
  static constexpr SeriesFamily kLeverage{
      "breakwatch_reason_leverage", "gauge",
      "Models whose breaks all have this reason: an upper bound of the models that one fix unblocks."};
  std::set<std::string> seen;
  std::vector<std::pair<std::string, const ReasonInfo*>> rows;
  for (const ReasonInfo& reason : reasons) {
    std::string labels = Labels({{"reason", reason.reason}, {"gb_id", reason.gb_id}});
    if (seen.insert(labels).second) rows.emplace_back(std::move(labels), &reason);
  }
  out.Begin(kInfo);
  for (const auto& [labels, reason] : rows)
    out.Sample(labels, ',' + Labels({{"fixability", reason->fixability}, {"url", reason->url}}), std::int64_t{1});
  out.Begin(kLeverage);
  for (const auto& [labels, reason] : rows) out.Sample(labels, "", reason->leverage);
}

void WriteSweep(ExpositionWriter& out, const SweepSummary& sweep) {
  static constexpr SeriesFamily kSuccess{"breakwatch_sweep_last_success_timestamp_seconds", "gauge",
                                         "End of the newest complete sweep; absent before the first."};
  static constexpr SeriesFamily kDuration{"breakwatch_sweep_duration_seconds", "gauge",
                                          "Wall time of the newest finished sweep."};
  static constexpr SeriesFamily kModels{"breakwatch_sweep_models", "gauge",
                                        "Models of the newest finished sweep by status."};
  static constexpr SeriesFamily kFailure{"breakwatch_sweep_last_failure_timestamp_seconds", "gauge",
                                         "Newest sweep that failed or ended incomplete; absent before the first."};
  static constexpr SeriesFamily kInterval{"breakwatch_sweep_interval_seconds", "gauge",
                                          "Configured time between sweeps (sweep.interval); absent without one."};
  static constexpr SeriesFamily kNextDue{
      "breakwatch_sweep_next_due_timestamp_seconds", "gauge",
      "When serve starts its next sweep by itself; absent without an interval and for one-shot sweeps."};
  static constexpr SeriesFamily kMismatches{"breakwatch_depth_mismatches_total", "counter",
                                            "Captures whose reduced and full depth disagreed."};
  out.Begin(kSuccess);
  if (sweep.last_success != SystemTime{}) out.Sample("", "", Seconds(sweep.last_success));
  out.Begin(kFailure);
  if (sweep.last_failure != SystemTime{}) out.Sample("", "", Seconds(sweep.last_failure));
  out.Begin(kInterval);
  if (sweep.interval.count() > 0) out.Sample("", "", Seconds(sweep.interval));
  out.Begin(kNextDue);
  if (sweep.next_due != SystemTime{}) out.Sample("", "", Seconds(sweep.next_due));
  if (!sweep.models.empty()) {
    out.Begin(kDuration);
    out.Sample("", "", Seconds(sweep.duration));
    std::map<std::string, std::int64_t> models = sweep.models;
    for (const Status status : AllStatuses()) models.try_emplace(std::string(StatusName(status)), 0);
    out.Begin(kModels);
    for (const auto& [status, count] : models) out.Sample(Labels({{"status", status}}), "", count);
  }
  out.Begin(kMismatches);
  out.Sample("", "", sweep.depth_mismatches);
}

void WriteDelivery(ExpositionWriter& out, const std::vector<DeliveryStats>& delivery) {
  struct Counted {
    SeriesFamily family;
    std::int64_t DeliveryStats::*value;
  };
  static constexpr Counted kCounted[] = {
      {{"breakwatch_export_attempts_total", "counter",
        "Exports started, counted by the process: rate() is correct here."},
       &DeliveryStats::attempts},
      {{"breakwatch_export_failures_total", "counter", "Exports that were not accepted, counted by the process."},
       &DeliveryStats::failures},
      {{"breakwatch_events_pending", "gauge", "Stored events that the exporter has not sent yet."},
       &DeliveryStats::events_pending},
      {{"breakwatch_dead_letters", "gauge", "Events that the target refused (breakwatch dead-letters list)."},
       &DeliveryStats::dead_letters},
  };
  static constexpr SeriesFamily kSuccess{"breakwatch_export_last_success_timestamp_seconds", "gauge",
                                         "Last accepted export; absent before the first."};
  static constexpr SeriesFamily kFailure{
      "breakwatch_export_last_failure_timestamp_seconds", "gauge",
      "Last export that the target did not accept; absent before the first. Dead letters do not count."};
  static constexpr SeriesFamily kPaused{"breakwatch_export_paused", "gauge", "1 while the target refuses every event."};
  static constexpr SeriesFamily kAge{"breakwatch_events_oldest_age_seconds", "gauge",
                                     "Age of the oldest event that the exporter has not sent yet."};
  static constexpr SeriesFamily kOldest{"breakwatch_events_oldest_timestamp_seconds", "gauge",
                                        "Time of the oldest event that the exporter has not sent yet; absent if none."};
  const auto write_times = [&](const SeriesFamily& family, SystemTime DeliveryStats::*time) {
    out.Begin(family);
    for (const DeliveryStats& stats : delivery) {
      if (stats.*time != SystemTime{}) out.Sample(Labels({{"exporter", stats.exporter}}), "", Seconds(stats.*time));
    }
  };
  for (const Counted& counted : kCounted) {
    out.Begin(counted.family);
    for (const DeliveryStats& stats : delivery)
      out.Sample(Labels({{"exporter", stats.exporter}}), "", stats.*counted.value);
  }
  write_times(kSuccess, &DeliveryStats::last_success);
  write_times(kFailure, &DeliveryStats::last_failure);
  write_times(kOldest, &DeliveryStats::oldest_at);
  out.Begin(kPaused);
  for (const DeliveryStats& stats : delivery)
    out.Sample(Labels({{"exporter", stats.exporter}}), "", std::int64_t{stats.paused ? 1 : 0});
  out.Begin(kAge);
  for (const DeliveryStats& stats : delivery)
    out.Sample(Labels({{"exporter", stats.exporter}}), "", Seconds(stats.oldest_age));
}

void WriteWorkers(ExpositionWriter& out, const WorkersOfAll& workers) {
  for (const WorkerSeries& series : kWorkerSeries) {
    const SeriesFamily family{series.name, "counter", series.help};
    out.Begin(family);
    for (const auto& [toolchain, counts] : workers) {
      out.Sample(Labels({{"toolchain", toolchain}}), "", counts.*series.value);
    }
  }
}

void WriteArtifacts(ExpositionWriter& out, const Snapshot& snapshot) {
  static constexpr SeriesFamily kArtifacts{"breakwatch_artifact_status", "gauge",
                                           "Compiled packages by target and by how far each came."};
  if (snapshot.artifacts.empty()) return;
  out.Begin(kArtifacts);
  for (const auto& [key, number] : snapshot.artifacts)
    out.Sample(Labels({{"target", key.first}, {"status", key.second}}), "", number);
}

void WriteInfos(ExpositionWriter& out, const std::vector<Toolchain>& toolchains, const std::string& sandbox) {
  static constexpr SeriesFamily kBuild{"breakwatch_build_info", "gauge", "1; the version that published the series."};
  static constexpr SeriesFamily kToolchain{"breakwatch_toolchain_info", "gauge", "1 for each toolchain that captures."};
  out.Begin(kBuild);
  out.Sample(Labels({{"version", BREAKWATCH_VERSION}}), "", std::int64_t{1});
  std::set<std::string> rows;  // toolchains with equal labels are one series
  for (const Toolchain& toolchain : toolchains) {
    rows.insert(Labels({{"toolchain", toolchain.name},
                        {"torch", toolchain.torch},
                        {"transformers", toolchain.transformers},
                        {"python", toolchain.python}}));
  }
  out.Begin(kToolchain);
  for (const std::string& labels : rows) out.Sample(labels, "", std::int64_t{1});
  static constexpr SeriesFamily kSandbox{"breakwatch_sandbox_info", "gauge",
                                         "1; what captures run in: bubblewrap, landlock, launcher or none."};
  if (sandbox.empty()) return;
  out.Begin(kSandbox);
  out.Sample(Labels({{"sandbox", sandbox}}), "", std::int64_t{1});
}

}  // namespace

bool IsInShard(std::string_view model, Shard shard) {
  return shard.count <= 1 || StableHash(model) % shard.count == shard.index;
}

void WriteExposition(const Snapshot& snapshot, Shard shard, const TextSink& sink) {
  ExpositionWriter out(sink);
  out.Drop(snapshot.metrics.drop);
  ReasonLabels cache;
  const ModelRows rows = RowsOf(snapshot, shard, cache);
  WriteNumbers(out, rows);
  WriteModels(out, rows, snapshot.metrics.phases);
  WriteExtra(out, ExtraRows(snapshot, rows.models, cache));
  WriteMeasurements(out, snapshot, shard);
  if (shard.index == 0) {
    WriteReasons(out, snapshot.reasons);
    WriteFixes(out, snapshot);
    WriteSweep(out, snapshot.sweep);
    WriteDelivery(out, snapshot.delivery);
    WriteWorkers(out, snapshot.workers);
    WriteArtifacts(out, snapshot);
    WriteInfos(out, snapshot.toolchains, snapshot.sandbox);
  }
  out.Finish();
}

std::string Exposition(const Snapshot& snapshot) {
  std::string text;
  WriteExposition(snapshot, {}, [&text](std::string_view chunk) { text.append(chunk); });
  return text;
}

}  // namespace breakwatch
