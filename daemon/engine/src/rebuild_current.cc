#include <utility>

#include "breakwatch/engine/aggregate.h"

namespace breakwatch::engine {

Result<Aggregate> FoldHistory(store::CurrentState& state, AggregateOptions options) {
  Aggregate aggregate({}, std::move(options));
  auto folded = state.ReplayHistory([&](const store::HistoryStep& step) -> Result<void> {
    switch (step.kind) {
      case store::HistoryStep::Kind::kBegun:
        if (step.plan) (void)aggregate.Begin(step.sweep, *step.plan);
        break;
      case store::HistoryStep::Kind::kResult:
        if (step.result) (void)aggregate.Apply(*step.result);
        break;
      case store::HistoryStep::Kind::kFinished:
        if (step.plan) (void)aggregate.Finish(step.sweep, *step.plan);
        break;
    }
    return {};
  });
  if (!folded) return folded.error().Within("cannot compute the current state from the history");
  return aggregate;
}

Result<void> RebuildCurrent(store::CurrentState& state, AggregateOptions options) {
  auto aggregate = FoldHistory(state, std::move(options));
  if (!aggregate) return aggregate.error();
  return state.ReplaceCurrent(aggregate->ToCurrent());
}

Result<LoadedAggregate> LoadAggregate(store::CurrentState& state, const AggregateOptions& options) {
  auto current = state.LoadCurrent();
  if (!current) return current.error();
  const bool damaged = current->damaged;
  Aggregate loaded(*std::move(current), options);
  if (loaded.IsOfThisFold() && !damaged) return LoadedAggregate{std::move(loaded)};
  auto folded = FoldHistory(state, options);
  if (!folded) return folded.error();
  return LoadedAggregate{*std::move(folded), /*is_stored=*/false};
}

}  // namespace breakwatch::engine
