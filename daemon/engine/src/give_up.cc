#include "give_up.h"

#include <utility>

#include "events.h"

namespace breakwatch::engine {
namespace {

Result<store::SweepEnd> GiveUp(LoopState& state, Sweep sweep) {
  auto results = state.parts.sweeps.Results(sweep.id);
  if (!results) return results.error();
  auto plan = state.parts.sweeps.LoadPlan(sweep.id);
  if (!plan && plan.error().retryable) return plan.error();
  if (!plan) plan = Plan{};  // damaged; an abandoned sweep does not use its plan
  sweep.statuses.clear(), sweep.modes.clear();
  for (const ModelResult& result : *results) {
    const std::string status(StatusName(result.capture.status));
    ++sweep.statuses[status], ++sweep.modes[result.capture.mode][status];
  }
  sweep.state = SweepState::kFinished;
  sweep.finished_at = state.parts.clock.Now();
  store::CurrentChange change = state.aggregate().Finish(sweep, *plan);
  return store::SweepEnd{sweep, {SweepFinished(sweep)}, std::move(change)};
}

}  // namespace

Result<std::vector<store::SweepEnd>> GiveUpUnfinished(LoopState& state) {
  auto unfinished = state.parts.sweeps.Unfinished();
  if (!unfinished) return unfinished.error();
  std::vector<store::SweepEnd> ends;
  for (Sweep& old : *unfinished) {
    auto end = GiveUp(state, std::move(old));
    if (!end) return end.error();
    ends.push_back(*std::move(end));
  }
  return ends;
}

Error GiveUpDamaged(LoopState& state, const Sweep& sweep) {
  auto end = GiveUp(state, sweep);
  if (!end) return end.error();
  if (auto ended = state.parts.sweeps.FinishSweep(end->sweep, end->events, end->change); !ended) return ended.error();
  state.EventsStored();
  return {ErrorCode::kStore,
          "the plan of sweep " + sweep.id +
              " is damaged and cannot be resumed; start a new sweep (`breakwatch sweep`). `breakwatch store "
              "check` lists the damage",
          false,
          {}};
}

}  // namespace breakwatch::engine
