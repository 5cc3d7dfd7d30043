#include "one_sweep.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "breakwatch/core/mode.h"
#include "breakwatch/engine/plan_request.h"
#include "events.h"
#include "give_up.h"
#include "sweep_run.h"

namespace breakwatch::engine {
namespace {

// Why a request has no finished sweep.
struct SweepFailure {
  std::optional<std::string> sweep_id;  // nullopt: the request is refused, no sweep began
  Error error;
};

bool IsMeasurement(const Plan& plan) {
  return !plan.models.empty() && std::all_of(plan.models.begin(), plan.models.end(),
                                             [](const PlannedModel& planned) { return IsMeasureMode(planned.mode); });
}

bool IsMeasurement(const SweepRequest& request) {
  if (request.saved_plan) return IsMeasurement(*request.saved_plan);
  return !request.modes.empty() && std::all_of(request.modes.begin(), request.modes.end(),
                                               [](const std::string& mode) { return IsMeasureMode(mode); });
}

// Whether this error makes a sweep of our own a failed one. An import, a bisection, a measurement and a further
// toolchain have no published sweep. A request that is invalid or was stopped is not a failure of the service.
bool IsFailure(const SweepRequest& request, const Error& error) {
  const bool own = !request.imported && !request.measure && !IsMeasurement(request) &&
                   request.trigger != SweepTrigger::kBisect && request.toolchain.name.empty();
  return own && error.code != ErrorCode::kInterrupted && error.code != ErrorCode::kUsage &&
         error.code != ErrorCode::kNotFound;
}

// A new sweep, or the one to resume. Error: the request is refused.
Result<Sweep> ChooseSweep(LoopState& state, const SweepRequest& request) {
  if (auto loaded = state.EnsureAggregate(); !loaded) return loaded.error();
  if (!request.resume) {
    Sweep sweep;
    sweep.started_at = state.parts.clock.Now();
    sweep.id = MakeSweepId(sweep.started_at);
    return sweep;
  }
  auto unfinished = state.parts.sweeps.NewestUnfinished();
  if (!unfinished) return unfinished.error();
  if (!*unfinished) return Error{ErrorCode::kNotFound, "nothing to resume: every sweep is finished"};
  return **std::move(unfinished);
}

// Listing may take minutes, so commands are handled meanwhile.
Result<void> WaitForListing(LoopState& state, int fd) {
  state.wake.Add(fd);
  (void)state.Wait(SteadyTime::max());
  state.wake.Remove(fd);
  state.TakeCommands();
  if (state.stopping()) return Error{ErrorCode::kInterrupted, "stopped while listing"};
  if (state.cancelled()) return Error{ErrorCode::kInterrupted, "cancelled while listing"};
  return state.Held();
}

Result<Toolchain> UseToolchainOf(LoopState& state, const SweepRequest& request) {
  if (request.imported) return state.UseImport(*request.imported);
  return state.UseToolchain(request.toolchain);
}

Result<Plan> ListAndPlan(LoopState& state, const std::string& sweep_id, const SweepRequest& request) {
  const auto wait = [&state](int fd) { return WaitForListing(state, fd); };
  auto list = ListModels(state.parts.lister, request, state.parts.progress, wait);
  if (!list) return list.error();
  auto toolchain = UseToolchainOf(state, request);
  if (!toolchain) return toolchain.error();
  return PlanRequest(sweep_id, request, *std::move(list),
                     {.sweeps = state.parts.sweeps,
                      .current = state.aggregate(),
                      .options = state.options.plan,
                      .toolchain = *std::move(toolchain),
                      .now = state.parts.clock.Now()});
}

// For readers of the store only. Resuming does not need it, so it may fail.
void NoteInterruption(LoopState& state, Sweep sweep) {
  sweep.state = SweepState::kInterrupted;
  sweep.finished_at = state.parts.clock.Now();
  const std::array events = {SweepFinished(sweep)};
  if (state.parts.sweeps.FinishSweep(sweep, events, {})) state.EventsStored();
}

bool IsComplete(const Sweep& sweep, const Plan& plan) {
  return !plan.models.empty() && std::none_of(AllStatuses().begin(), AllStatuses().end(), [&](Status status) {
    return IsIncomplete(status) && sweep.statuses.contains(std::string(StatusName(status)));
  });
}

// Leaves nothing of the plan: its report is written next, and reads it from the store.
Result<Sweep> CaptureAndFinish(LoopState& state, Sweep sweep, SweepRun& run, Plan& plan) {
  if (const std::string warning = state.runner().Sandbox().warning; !warning.empty())
    state.parts.progress.OnWarning(warning);
  auto captured = run.CaptureAll();
  sweep.statuses = run.Statuses();
  sweep.modes = run.StatusesByMode();
  if (!captured && captured.error().code == ErrorCode::kInterrupted) NoteInterruption(state, sweep);
  if (!captured) return captured.error();
  sweep.state = SweepState::kFinished;
  sweep.finished_at = state.parts.clock.Now();
  sweep.complete = run.Damaged() == 0 && IsComplete(sweep, plan);
  const std::array events = {SweepFinished(sweep)};
  {
    const store::CurrentChange change = state.aggregate().Finish(sweep, plan);
    if (auto finished = state.parts.sweeps.FinishSweep(sweep, events, change); !finished) return finished.error();
  }
  std::vector<PlannedModel>().swap(plan.models);
  state.EventsStored();
  if (!sweep.complete && plan.primary && !IsAside(sweep)) state.NoteFailure();
  state.Publish(/*urgent=*/true);
  state.parts.progress.OnFinished(sweep);
  return sweep;
}

Result<Sweep> Begin(LoopState& state, Sweep sweep, const SweepRequest& request) {
  auto plan = ListAndPlan(state, sweep.id, request);
  if (!plan) return plan.error();
  sweep.trigger = IsMeasurement(*plan) ? SweepTrigger::kMeasure : request.trigger;
  sweep.source = plan->source;
  sweep.ranked = plan->ranked;
  sweep.planned = static_cast<int>(plan->models.size());
  sweep.toolchain = plan->toolchain;
  std::vector<store::SweepEnd> given_up;
  if (sweep.ranked) {
    auto ends = GiveUpUnfinished(state);
    if (!ends) return ends.error();
    given_up = *std::move(ends);
  }
  const std::vector<Event> events = BeginEvents(sweep, *plan);
  const store::CurrentChange change = state.aggregate().Begin(sweep, *plan);
  // In one transaction: if the new sweep cannot begin, the old ones can still be resumed.
  if (auto begun = state.parts.sweeps.BeginSweep(sweep, *plan, events, change, given_up); !begun) return begun.error();
  state.EventsStored();
  state.parts.progress.OnPlan(*plan, 0);
  SweepRun run(state, sweep.id, *plan);
  return CaptureAndFinish(state, std::move(sweep), run, *plan);
}

Result<Sweep> Resume(LoopState& state, Sweep sweep) {
  auto plan = state.parts.sweeps.LoadPlan(sweep.id);
  if (!plan && plan.error().retryable) return plan.error();
  const bool damaged = !plan || plan->models.size() != static_cast<std::size_t>(std::max(sweep.planned, 0));
  if (damaged) return GiveUpDamaged(state, sweep);
  auto results = state.parts.sweeps.Results(sweep.id);
  if (!results) return results.error();
  const auto stored = state.parts.sweeps.HaveResults(sweep.id);
  if (!stored) return stored.error();
  const std::array events = {SweepResumed(sweep, results->size())};
  if (auto appended = state.parts.event_log.AppendEvents(events); !appended) return appended.error();
  state.EventsStored();
  state.parts.progress.OnPlan(*plan, results->size());
  SweepRun run(state, sweep.id, *plan);
  run.TakeOver(*results, *stored);
  const auto opened = state.UseToolchain({.name = plan->toolchain.name});
  const Toolchain now = opened ? *opened : state.options.plan.toolchain;
  if (now.Key() != plan->toolchain.Key() || now.worker != plan->toolchain.worker) {
    run.ForbidCaptures("the toolchain changed since this plan was made: " + plan->toolchain.Key() + " worker " +
                       plan->toolchain.worker + " -> " + now.Key() + " worker " + now.worker);
  }
  return CaptureAndFinish(state, std::move(sweep), run, *plan);
}

Error ReportFailure(LoopState& state, const Request& request, const SweepFailure& failure) {
  state.ForgetAggregate();  // the fold in memory may be ahead of the store
  const Error& error = failure.error;
  if (error.code != ErrorCode::kInterrupted && error.code != ErrorCode::kStore) {
    const std::array events = {SweepFailed(failure.sweep_id.value_or(""), error)};
    if (state.parts.event_log.AppendEvents(events)) state.EventsStored();
  }
  if (IsFailure(request.sweep, error)) state.NoteFailure();
  if (state.EnsureAggregate()) state.Publish(/*urgent=*/true);
  if (!failure.sweep_id) {
    for (const std::string& command : request.commands) state.parts.progress.OnRefused(command, error);
  }
  state.parts.progress.OnFailed(error);
  return error;
}

}  // namespace

Result<Sweep> RunSweep(LoopState& state, const Request& request) {
  const auto sweep = ChooseSweep(state, request.sweep);
  if (!sweep) return ReportFailure(state, request, {std::nullopt, sweep.error()});
  for (const std::string& command : request.commands) state.parts.progress.OnAccepted(command, sweep->id);
  auto swept = request.sweep.resume ? Resume(state, *sweep) : Begin(state, *sweep, request.sweep);
  state.UsePrimary();
  if (!swept) return ReportFailure(state, request, {sweep->id, swept.error()});
  return swept;
}

}  // namespace breakwatch::engine
