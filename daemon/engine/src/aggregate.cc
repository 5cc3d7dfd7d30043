#include "breakwatch/engine/aggregate.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/make_plan.h"
#include "numbers_of.h"
#include "trend_fold.h"

namespace breakwatch::engine {
namespace {

using nlohmann::json;

// Keys of the values that belong to the whole fold.
constexpr char kFillingSweep[] = "filling_sweep";              // id of the sweep that fills an empty tracked set
constexpr char kTrackedImport[] = "tracked_import";            // id of the running import whose model is tracked
constexpr char kPublishedToolchain[] = "published_toolchain";  // Toolchain::Key()
constexpr char kPrimary[] = "primary_toolchain";               // name of the published toolchain
constexpr char kFoldVersion[] = "fold_version";                // version of these rules
constexpr char kToolchains[] = "toolchains";                   // JSON list of toolchains, newest last
constexpr char kPinned[] = "pinned_architectures";             // JSON list of classes
constexpr char kDepthMismatches[] = "depth_mismatches";        // count
constexpr char kLastSuccess[] = "last_success";                // RFC 3339: end of the newest complete sweep
constexpr char kNewestSweep[] = "newest_finished_sweep";       // JSON of a Sweep
constexpr char kTrendMemory[] = "trend_models";                // JSON of a TrendMemory

// Increase this when the same history produces different rows.
constexpr char kThisFold[] = "4";

// An untracked model that was not seen for this time is forgotten; its history stays.
constexpr std::chrono::hours kForgetAfter{30 * 24};

// Numbers of older toolchains are dropped, so that rows do not grow with each upgrade.
constexpr std::size_t kMaxToolchains = 8;

json ParseList(const std::string& text) {
  json list = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return list.is_array() ? list : json::array();
}

std::vector<Toolchain> ParseToolchains(const std::string& text) {
  std::vector<Toolchain> toolchains;
  for (const json& element : ParseList(text)) {
    if (auto toolchain = ToolchainFromJson(JsonText(element))) toolchains.push_back(*std::move(toolchain));
  }
  return toolchains;
}

// Whether the state after this sweep is kept as that of its day.
bool IsFolded(const Sweep& sweep, const Plan& plan) {
  return sweep.state == SweepState::kFinished && !IsImport(sweep) && !IsAside(sweep) && !IsGivenUp(sweep) &&
         !plan.models.empty();
}

// Only measures: nothing about breaks is new.
bool IsMeasurement(const Sweep& sweep) { return sweep.trigger == SweepTrigger::kMeasure; }

}  // namespace

// Collects the changes of one step of the fold.
class Aggregate::Changes {
 public:
  explicit Changes(Aggregate& aggregate) : aggregate_(aggregate) {}

  // The row to change; created if missing. It is a copy: snapshots have the one before.
  TrackedModel& Row(const std::string& model) {
    const auto [place, is_new] = touched_.try_emplace(model);
    if (is_new) {
      ModelList::Pointer& row = aggregate_.models_[model];
      place->second = row ? std::make_shared<TrackedModel>(*row) : std::make_shared<TrackedModel>();
      place->second->model = model;
      row = place->second;
    }
    return *place->second;
  }
  // The same, unless the row is already as `change` makes it.
  template <class Change>
  void Update(const std::string& model, const Change& change) {
    if (const TrackedModel* known = aggregate_.Find(model)) {
      TrackedModel changed = *known;
      change(changed);
      if (changed == *known) return;
    }
    change(Row(model));
  }
  void Erase(const std::string& model) {
    touched_.erase(model);
    removed_.push_back(model);
    aggregate_.models_.erase(model);
  }
  void SetMeta(const std::string& key, std::string value) {
    if (aggregate_.Meta(key) == value) return;
    meta_[key] = value;
    aggregate_.meta_[key] = std::move(value);
  }
  store::CurrentChange Take() {
    store::CurrentChange change;
    for (auto& [model, row] : touched_) change.upserts.push_back(std::move(row));
    touched_.clear();
    change.removals = std::move(removed_);
    change.meta = std::move(meta_);
    return change;
  }

 private:
  Aggregate& aggregate_;
  std::map<std::string, std::shared_ptr<TrackedModel>> touched_;
  std::vector<std::string> removed_;
  std::map<std::string, std::string> meta_;
};

Aggregate::Aggregate(store::Current current, AggregateOptions options)
    : meta_(std::move(current.meta)), options_(std::move(options)) {
  for (const ModelList::Pointer& row : current.models.shared()) models_.insert_or_assign(row->model, row);
}

bool Aggregate::IsOfThisFold() const { return IsEmpty() || Meta(kFoldVersion) == kThisFold; }

const std::string& Aggregate::Meta(const std::string& key) const {
  static const std::string kNone;
  const auto it = meta_.find(key);
  return it == meta_.end() ? kNone : it->second;
}

const TrackedModel* Aggregate::Find(const std::string& model) const {
  const auto it = models_.find(model);
  return it == models_.end() ? nullptr : it->second.get();
}

bool Aggregate::HasTracked() const {
  return std::any_of(models_.begin(), models_.end(), [](const auto& row) { return row.second->tracked; });
}

// An import does not fill the tracked set: the first sweep after it does.
bool Aggregate::HasSwept() const {
  return std::any_of(models_.begin(), models_.end(),
                     [](const auto& row) { return row.second->tracked && !row.second->imported; });
}

std::string Aggregate::PublishedToolchain() const { return Meta(kPublishedToolchain); }

std::set<std::string> Aggregate::PinnedArchitectures() const {
  std::set<std::string> classes;
  for (const json& name : ParseList(Meta(kPinned))) {
    if (name.is_string()) classes.insert(name.get<std::string>());
  }
  return classes;
}

store::CurrentChange Aggregate::Begin(const Sweep& sweep, const Plan& plan) {
  Changes changes(*this);
  const bool import = IsImport(sweep);
  if (import && !plan.track) return changes.Take();  // the import belongs to history only
  const bool primary = plan.primary && !import;
  if (IsEmpty()) changes.SetMeta(kFoldVersion, kThisFold);
  if (import) changes.SetMeta(kTrackedImport, sweep.id);
  if (!import && !IsMeasurement(sweep) && !HasSwept()) changes.SetMeta(kFillingSweep, sweep.id);
  if (primary) changes.SetMeta(kPrimary, sweep.toolchain.name);
  if (primary && PublishedToolchain().empty()) changes.SetMeta(kPublishedToolchain, sweep.toolchain.Key());
  Retain(sweep.toolchain, changes);
  if (plan.track) {
    for (const PlannedModel& planned : plan.models) {
      if (planned.status == Status::kSkippedNotFound) continue;  // a mistyped name must not stay in the fold
      TrackedModel& row = changes.Row(planned.info.id);
      if (row.detail.empty()) {
        row.family = planned.info.family;
        row.detail = "added, no result yet";
        row.imported = import;
      }
      row.tracked = row.pinned = true;
    }
  }
  return changes.Take();
}

// Makes a toolchain the newest. Beyond the limit the oldest are dropped with their numbers, but never the published
// one.
void Aggregate::Retain(const Toolchain& toolchain, Changes& changes) {
  std::vector<Toolchain> known = ParseToolchains(Meta(kToolchains));
  std::erase_if(known, [&](const Toolchain& other) { return other.Key() == toolchain.Key(); });
  known.push_back(toolchain);
  while (known.size() > kMaxToolchains) {
    const auto oldest = std::find_if(known.begin(), known.end(),
                                     [&](const Toolchain& other) { return other.Key() != PublishedToolchain(); });
    const std::string key = oldest->Key();
    known.erase(oldest);
    for (const auto& kept : models_) {
      const auto forget = [&](std::string_view mode) {
        const std::string name = NumbersKey(key, mode);
        if (kept.second->numbers.contains(name)) changes.Row(kept.first).numbers.erase(name);
        if (kept.second->attempts.contains(name)) changes.Row(kept.first).attempts.erase(name);
        if (kept.second->measured.contains(name)) changes.Row(kept.first).measured.erase(name);
        if (kept.second->fixes.contains(name)) changes.Row(kept.first).fixes.erase(name);
      };
      std::for_each(AllStoredModes().begin(), AllStoredModes().end(), forget);
      forget(kImport);
    }
  }
  json list = json::array();
  for (const Toolchain& one : known) list.push_back(json::parse(ToJson(one)));
  changes.SetMeta(kToolchains, JsonText(list));
}

// Stores the numbers of a capture beside those of other toolchains and modes.
void Aggregate::TakeNumbers(const ModelResult& result, TrackedModel& row) {
  if (!HasNumbers(result.capture.status) || result.info.sha.empty()) return;
  Numbers& numbers = row.numbers[NumbersKey(result.capture.toolchain.Key(), result.capture.mode)];
  // A reused capture keeps its first numbers, so that a sweep without changes does not change the row.
  const bool same = !result.capture_id.empty() && numbers.capture_id == result.capture_id;
  if (!same || numbers.commit != result.info.sha) numbers = NumbersOf(result);
}

// The same for what was measured. A failed measurement leaves the one before.
void Aggregate::TakeMeasurement(const ModelResult& result, TrackedModel& row) {
  if (result.info.sha.empty()) return;
  if (auto effects = FixEffectsOf(result)) {
    FixEffects& kept = row.fixes[result.capture.toolchain.Key()];
    if (Replaces(*effects, kept)) kept = *std::move(effects);
  }
  auto measurement = MeasurementOf(result);
  if (!measurement) return;
  row.measured[NumbersKey(result.capture.toolchain.Key(), result.capture.mode)] = *std::move(measurement);
}

store::CurrentChange Aggregate::Apply(const ModelResult& result) {
  Changes changes(*this);
  const bool import = IsImport(result);
  if (import && (result.sweep_id.empty() || result.sweep_id != Meta(kTrackedImport))) return changes.Take();
  TrackedModel& row = changes.Row(result.info.id);
  if (import && !row.imported) {  // an import at another commit does not describe the known commit
    if (result.info.sha != row.commit) return changes.Take();
    row.attempts[NumbersKey(result.capture.toolchain.Key(), kImport)] = {result.capture.status, result.info.sha};
    TakeNumbers(result, row);
    return changes.Take();
  }
  row.imported = import;
  const ModelInfo& info = result.info;
  const Status status = result.capture.status;
  const bool filling = !result.sweep_id.empty() && result.sweep_id == Meta(kFillingSweep);
  if (filling && status != Status::kSkippedNotFound) {
    row.tracked = true;
    row.in_ranking = info.rank > 0;
    row.rank = info.rank;
  }
  if (IsMain(result) || row.imported) {  // a model known only from imports has no other attempts
    row.status = status;
    row.status_commit = info.sha;
    row.detail = result.capture.detail;
    row.suggestion = result.capture.suggestion;
  } else if (row.detail.empty()) {
    row.detail = "no result in mode eval by the primary toolchain yet";
  }
  row.attempted_at = result.finished_at;
  if (row.family == Family::kUnknown) row.family = info.family;
  // A new commit invalidates the numbers of the old one, whatever the result of its capture.
  if (!info.sha.empty() && info.sha != row.commit) {
    row.commit = info.sha;
    std::erase_if(row.numbers, [&](const auto& numbers) { return numbers.second.commit != info.sha; });
    std::erase_if(row.measured, [&](const auto& measured) { return measured.second.commit != info.sha; });
    std::erase_if(row.fixes, [&](const auto& fixes) { return fixes.second.commit != info.sha; });
    std::erase_if(row.attempts, [&](const auto& attempt) { return attempt.second.commit != info.sha; });
  }
  const std::string key = NumbersKey(result.capture.toolchain.Key(), result.capture.mode);
  row.attempts[key] = {status, info.sha};
  if (status == Status::kNotAttempted) return changes.Take();

  if (info.family != Family::kUnknown) row.family = info.family;
  if (info.downloads) row.downloads = info.downloads;
  if (IsMeasureMode(result.capture.mode)) {
    TakeMeasurement(result, row);
    return changes.Take();
  }
  TakeNumbers(result, row);
  CountDepthMismatch(result, changes);
  return changes.Take();
}

// True if the model's own metrics use this result.
bool Aggregate::IsMain(const ModelResult& result) const {
  const bool main_mode = result.capture.mode.empty() || result.capture.mode == kMainMode;
  return main_mode && (Meta(kPrimary).empty() || result.capture.toolchain.name == Meta(kPrimary));
}

void Aggregate::CountDepthMismatch(const ModelResult& result, Changes& changes) {
  if (!result.capture.depth_mismatch.value_or(false) || result.reused || !result.shared_from.empty()) return;
  const std::string& before = Meta(kDepthMismatches);
  changes.SetMeta(kDepthMismatches, std::to_string(before.empty() ? 1 : std::stoll(before) + 1));
  std::set<std::string> pinned = PinnedArchitectures();
  pinned.insert(ClassOf(result.info));
  changes.SetMeta(kPinned, JsonText(json(pinned)));
}

store::CurrentChange Aggregate::Finish(const Sweep& sweep, const Plan& plan) {
  Changes changes(*this);
  End(sweep, plan, changes);
  std::vector<TrendFold> folds;
  if (IsFolded(sweep, plan)) folds = FoldDay(sweep, changes);
  store::CurrentChange change = changes.Take();
  change.trends = {std::move(folds), options_.trend_days};
  return change;
}

void Aggregate::End(const Sweep& sweep, const Plan& plan, Changes& changes) {
  if (sweep.state != SweepState::kFinished) return;  // it will be resumed
  if (Meta(kTrackedImport) == sweep.id) changes.SetMeta(kTrackedImport, "");
  if (IsImport(sweep) || IsMeasurement(sweep)) return;
  if (Meta(kFillingSweep) == sweep.id) changes.SetMeta(kFillingSweep, "");
  // An empty listing does not change any model: most likely a filter was mistyped.
  if (IsGivenUp(sweep) || !plan.primary || plan.models.empty()) return;

  changes.SetMeta(kNewestSweep, ToJson(sweep));
  if (!sweep.complete) return;
  changes.SetMeta(kLastSuccess, FormatTime(sweep.finished_at));
  // A sweep of a few models by name must not remove the numbers of all others from the dashboards. The same holds for a
  // sweep without results in the main mode.
  const bool main_mode = std::any_of(plan.models.begin(), plan.models.end(),
                                     [](const PlannedModel& planned) { return planned.mode == kMainMode; });
  if (main_mode && (sweep.ranked || CoversTrackedSet(plan)))
    changes.SetMeta(kPublishedToolchain, sweep.toolchain.Key());
  if (!sweep.ranked) return;
  ReplaceTrackedSet(plan, changes);
  ForgetStale(sweep.finished_at, changes);
}

std::vector<TrendFold> Aggregate::FoldDay(const Sweep& sweep, Changes& changes) {
  std::vector<TrendFold> folds;
  const auto fold = [&](const std::string& toolchain, bool published) {
    folds.push_back({DayOf(sweep.finished_at), toolchain, std::string(kMainMode), sweep.id, sweep.finished_at,
                     published, FoldTrend(models_, toolchain)});
  };
  if (sweep.toolchain.Key() != PublishedToolchain()) fold(sweep.toolchain.Key(), /*published=*/false);
  if (PublishedToolchain().empty()) return folds;
  fold(PublishedToolchain(), /*published=*/true);
  const auto known = TrendMemoryFromJson(Meta(kTrendMemory));
  TrendMemory memory{folds.back().day, TrendModelsOf(models_, PublishedToolchain()), std::nullopt};
  if (known) memory.before = known->day == memory.day ? known->before : known->last;
  if (memory.before) AddTrendChanges(*memory.before, memory.last, folds.back().rows);
  changes.SetMeta(kTrendMemory, ToJson(memory));
  return folds;
}

void Aggregate::ForgetStale(SystemTime now, Changes& changes) {
  std::vector<std::string> stale;
  for (const auto& [model, row] : models_) {
    if (!row->tracked && now - row->attempted_at > kForgetAfter) stale.push_back(model);
  }
  for (const std::string& model : stale) changes.Erase(model);
}

bool Aggregate::CoversTrackedSet(const Plan& plan) const {
  std::set<std::string> planned;
  for (const PlannedModel& model : plan.models) planned.insert(model.info.id);
  return std::all_of(models_.begin(), models_.end(), [&](const auto& row) {
    return !row.second->tracked || row.second->imported || planned.contains(row.first);
  });
}

void Aggregate::ReplaceTrackedSet(const Plan& plan, Changes& changes) {
  std::set<std::string_view> members;
  for (const PlannedModel& planned : plan.models) {
    members.insert(planned.info.id);
    changes.Update(planned.info.id, [&](TrackedModel& row) {
      row.tracked = row.in_ranking = true;
      row.rank = planned.info.rank;
      row.sweeps_unranked = 0;
    });
  }
  for (const auto& [model, known] : models_) {
    if (!known->tracked || members.contains(model)) continue;
    TrackedModel& row = changes.Row(model);
    const bool was_ranked = row.rank > 0;
    row.in_ranking = false;
    ++row.sweeps_unranked;
    // A model that was never ranked cannot leave the ranking. It was tracked only because the set was empty.
    if (!row.pinned && (!was_ranked || row.sweeps_unranked > options_.unranked_sweeps)) row.tracked = false;
  }
}

store::Current Aggregate::ToCurrent() const {
  store::Current current;
  current.meta = meta_;
  for (const auto& [model, row] : models_) current.models.push_back(row);
  return current;
}

Snapshot Aggregate::MakeSnapshot(SystemTime now) const {
  Snapshot snapshot;
  snapshot.taken_at = now;
  snapshot.toolchain_key = PublishedToolchain();
  snapshot.toolchains = ParseToolchains(Meta(kToolchains));
  snapshot.extra = options_.extra;
  snapshot.metrics = options_.metrics;
  for (const auto& [model, row] : models_) {
    if (row->tracked) snapshot.models.push_back(row);
  }
  snapshot.reasons = ReasonsOf(snapshot);
  if (const auto sweep = SweepFromJson(Meta(kNewestSweep))) {
    snapshot.sweep.sweep_id = sweep->id;
    snapshot.sweep.duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(sweep->finished_at - sweep->started_at);
    const auto main = sweep->modes.find(std::string(kMainMode));  // a model counts once, in however many modes it ran
    for (const auto& [status, count] : main == sweep->modes.end() ? sweep->statuses : main->second)
      snapshot.sweep.models[status] = count;
  }
  if (const auto last = ParseTime(Meta(kLastSuccess))) snapshot.sweep.last_success = *last;
  if (const std::string& count = Meta(kDepthMismatches); !count.empty()) {
    snapshot.sweep.depth_mismatches = std::stoll(count);
  }
  return snapshot;
}

}  // namespace breakwatch::engine
