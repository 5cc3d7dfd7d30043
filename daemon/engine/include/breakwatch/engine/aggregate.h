// Aggregate: a pure fold of sweeps and results into the published state. Imports are only history, unless their model
// is tracked (--track): then their numbers are shown next to those of our own captures and never replace them. Owner:
// the loop; `store rebuild` folds the history again with the same code and must produce equal rows.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/store/current_state.h"
#include "breakwatch/store/sweep_store.h"

namespace breakwatch::engine {

struct AggregateOptions {
  int unranked_sweeps = 3;           // complete ranked sweeps for which a model stays after it left the ranking
  std::vector<std::string> extra{};  // NAME or NAME/MODE: further toolchains to publish
  int trend_days = 0;                // days whose folds are kept; 0: all
  MetricChoice metrics{};            // of the snapshots
};

using store::IsGivenUp;

using TrackedRows = std::map<std::string, ModelList::Pointer>;  // by model

class Aggregate {
 public:
  Aggregate(store::Current current, AggregateOptions options);
  void Use(AggregateOptions options) { options_ = std::move(options); }

  // Each returns what changed, to be written with its cause. If that write fails, memory is ahead of the
  // store: the caller creates a new Aggregate from the store.
  store::CurrentChange Begin(const Sweep& sweep, const Plan& plan);
  store::CurrentChange Apply(const ModelResult& result);
  // Also folds the day: the published numbers, and those of the sweep's toolchain if it is another one.
  store::CurrentChange Finish(const Sweep& sweep, const Plan& plan);

  // Whether the rows were folded by these rules; if not, the history must be folded again.
  bool IsOfThisFold() const;
  // Null if the model has no row.
  const TrackedModel* Find(const std::string& model) const;
  bool HasTracked() const;
  // The published toolchain: Toolchain::Key(), empty before the first sweep.
  std::string PublishedToolchain() const;
  // Classes (ClassOf) whose reduced and full captures disagreed.
  std::set<std::string> PinnedArchitectures() const;
  store::Current ToCurrent() const;
  // Tracked models, reasons with leverage, toolchains, the sweep's summary; delivery is the caller's.
  Snapshot MakeSnapshot(SystemTime now) const;

 private:
  class Changes;

  const std::string& Meta(const std::string& key) const;
  bool HasSwept() const;
  static void TakeNumbers(const ModelResult& result, TrackedModel& row);
  static void TakeMeasurement(const ModelResult& result, TrackedModel& row);
  void Retain(const Toolchain& toolchain, Changes& changes);
  void ReplaceTrackedSet(const Plan& plan, Changes& changes);
  bool CoversTrackedSet(const Plan& plan) const;
  bool IsEmpty() const { return models_.empty() && meta_.empty(); }
  bool IsMain(const ModelResult& result) const;
  void ForgetStale(SystemTime now, Changes& changes);
  void CountDepthMismatch(const ModelResult& result, Changes& changes);
  void End(const Sweep& sweep, const Plan& plan, Changes& changes);
  std::vector<TrendFold> FoldDay(const Sweep& sweep, Changes& changes);

  // Snapshots share the rows, so that a row is replaced by its changed copy.
  TrackedRows models_;
  std::map<std::string, std::string> meta_;
  AggregateOptions options_;
};

// The whole history of a store, folded. Error kInterrupted: after a stop request.
struct FoldedHistory {
  Aggregate aggregate;
  TrendChange trends;
};
Result<FoldedHistory> FoldHistory(store::CurrentState& state, AggregateOptions options, std::stop_token stop = {});
// The same, and replaces the store's `current` and the trends of the days that the history has.
Result<void> RebuildCurrent(store::CurrentState& state, AggregateOptions options);

// The store's `current`, or the folded history if `current` is of an older program or has damaged rows.
struct LoadedAggregate {
  Aggregate aggregate;
  bool is_stored = true;  // false: it was folded again, and `current` is out of date
  TrendChange trends{};   // if it was folded again
};
// Without `fold_again`, it is in that case the stored one as far as it can be read. Writes nothing.
Result<LoadedAggregate> LoadAggregate(store::CurrentState& state, const AggregateOptions& options,
                                      bool fold_again = true);

}  // namespace breakwatch::engine
