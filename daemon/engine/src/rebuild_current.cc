#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "breakwatch/engine/aggregate.h"

namespace breakwatch::engine {

namespace {

// The last fold of each day, toolchain and mode, in the order in which they were made.
class LastOfEachDay {
 public:
  void Add(std::vector<TrendFold> folds) {
    for (TrendFold& fold : folds) {
      const Key key{fold.day, fold.toolchain, fold.mode};
      if (const auto old = places_.find(key); old != places_.end()) folds_.erase(old->second), places_.erase(old);
      places_[key] = folds_.emplace(next_++, std::move(fold)).first;
    }
  }
  std::vector<TrendFold> Take() {
    std::vector<TrendFold> all;
    for (auto& [order, fold] : folds_) all.push_back(std::move(fold));
    return all;
  }

 private:
  using Key = std::tuple<Day, std::string, std::string>;
  std::map<std::int64_t, TrendFold> folds_;  // by order
  std::map<Key, std::map<std::int64_t, TrendFold>::iterator> places_;
  std::int64_t next_ = 0;
};

}  // namespace

Result<FoldedHistory> FoldHistory(store::CurrentState& state, AggregateOptions options, std::stop_token stop) {
  const int keep_days = options.trend_days;
  Aggregate aggregate({}, std::move(options));
  LastOfEachDay trends;
  std::int64_t steps = 0, last_step = 0;
  auto folded = state.ReplayHistory([&](const store::HistoryStep& step) -> Result<void> {
    if (stop.stop_requested()) return Error{ErrorCode::kInterrupted, "stopped"};
    ++steps, last_step = step.seq;
    switch (step.kind) {
      case store::HistoryStep::Kind::kBegun:
        if (step.plan) (void)aggregate.Begin(step.sweep, *step.plan);
        break;
      case store::HistoryStep::Kind::kResult:
        if (step.result) (void)aggregate.Apply(*step.result);
        break;
      case store::HistoryStep::Kind::kFinished:
        if (step.plan) trends.Add(aggregate.Finish(step.sweep, *step.plan).trends.folds);
        break;
    }
    return {};
  });
  if (!folded) return folded.error().Within("cannot compute the current state from the history");
  // Steps are numbered from 1. If some were removed or are damaged, the stored trends are truer than these.
  return FoldedHistory{std::move(aggregate), {trends.Take(), keep_days, /*only_missing=*/steps != last_step}};
}

Result<void> RebuildCurrent(store::CurrentState& state, AggregateOptions options) {
  const auto folded = FoldHistory(state, std::move(options));
  if (!folded) return folded.error();
  return state.ReplaceCurrent(folded->aggregate.ToCurrent(), folded->trends);
}

Result<LoadedAggregate> LoadAggregate(store::CurrentState& state, const AggregateOptions& options, bool fold_again) {
  auto current = state.LoadCurrent();
  if (!current) return current.error();
  const bool damaged = current->damaged;
  Aggregate loaded(*std::move(current), options);
  if (loaded.IsOfThisFold() && !damaged) return LoadedAggregate{std::move(loaded)};
  if (!fold_again) return LoadedAggregate{std::move(loaded), /*is_stored=*/false};
  auto folded = FoldHistory(state, options);
  if (!folded) return folded.error();
  return LoadedAggregate{std::move(folded->aggregate), /*is_stored=*/false, std::move(folded->trends)};
}

}  // namespace breakwatch::engine
