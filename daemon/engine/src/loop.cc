#include "breakwatch/engine/loop.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <random>
#include <system_error>
#include <utility>

#include "breakwatch/core/text.h"
#include "breakwatch/core/threads.h"
#include "events.h"
#include "listing.h"
#include "loop_state.h"
#include "schedule.h"
#include "sweep_run.h"

namespace breakwatch::engine {
namespace {

// The maximum number of imports to skip when searching for the newest sweep.
constexpr int kLookBack = 64;

// "20261121T020512Z-3f9a1c"
std::string MakeSweepId(SystemTime now) {
  char suffix[16];
  std::snprintf(suffix, sizeof suffix, "Z-%06x", std::random_device{}() & 0xffffffu);
  return CompactTime(now) + suffix;
}

// The modes of a plan, in its order.
std::vector<std::string> ModesOf(const Plan& plan) {
  std::vector<std::string> modes;
  for (const PlannedModel& planned : plan.models) {
    if (std::find(modes.begin(), modes.end(), planned.mode) == modes.end()) modes.push_back(planned.mode);
  }
  return modes;
}

// Lists the models of a saved plan at their commits. Their actions are planned again.
RankedList ListOf(const Plan& plan) {
  RankedList list;
  list.source = plan.source;
  list.ranked = plan.ranked;
  for (const PlannedModel& planned : plan.models) {
    RankedModel model;
    model.info = planned.info;
    model.config_json = planned.config_json;
    if (planned.config_json.empty()) {
      model.excluded = planned.status.value_or(Status::kSkippedNoConfig);
      model.detail = planned.detail;
    }
    list.models.push_back(std::move(model));
  }
  return list;
}

}  // namespace

class Loop::Impl {
 public:
  Impl(LoopParts parts, LoopOptions options) : state_(std::move(parts), std::move(options)) {}

  Result<void> Start() {
    if (auto loaded = state_.EnsureAggregate(); !loaded) return loaded;
    // An empty fold must not clear what an earlier run of this daemon published.
    if (state_.aggregate().HasTracked()) state_.Publish(/*urgent=*/true);
    return {};
  }

  Result<Plan> PlanOnly(const SweepRequest& request) {
    if (auto loaded = state_.EnsureAggregate(/*writes=*/false); !loaded) return loaded.error();
    return MakePlanOf(MakeSweepId(parts().clock.Now()), request);
  }

  Result<Sweep> RunOne(const Request& request);
  Swept RunAll(const Request& request);  // also reports the result to the clients
  Result<void> Serve();

 private:
  LoopParts& parts() { return state_.parts; }

  Result<RankedList> List(const SweepRequest& request);
  Result<Plan> MakePlanOf(const std::string& sweep_id, const SweepRequest& request);
  Result<Toolchain> ToolchainOf(const SweepRequest& request);
  Swept RunEach(const Request& request);
  Result<Sweep> RunRequest(const Request& request);
  Result<Sweep> BeginNew(const Request& request);
  Result<Sweep> Resume(Sweep sweep, const Request& request);
  Result<Sweep> Execute(Sweep sweep, SweepRun& run, const Plan& plan);
  Result<store::SweepEnd> GiveUp(Sweep sweep);
  Result<std::vector<store::SweepEnd>> GiveUpUnfinished();
  Error GiveUpDamaged(const Sweep& sweep);
  void NoteInterruption(Sweep sweep);
  void Accept(const Request& request, const std::string& sweep_id) {
    for (const std::string& command : request.commands) parts().progress.OnAccepted(command, sweep_id);
  }

  // --- serving
  Result<void> ScheduleFirst();
  std::optional<Request> NextDue();
  bool HasUnfinished();
  // Between sweeps, stops the zygotes and returns unused memory to the system.
  void Release() {
    (void)parts().runner.StopAll();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
  }

  LoopState state_;
  std::string sweep_id_;  // id of the running sweep, for failure reports; empty before it exists
  Schedule schedule_;
  bool resume_first_ = false;
};

Result<RankedList> Loop::Impl::List(const SweepRequest& request) {
  if (request.saved_plan) return ListOf(*request.saved_plan);
  std::unique_ptr<Listing> started;
  try {
    started = std::make_unique<Listing>(parts().lister, request.list);
  } catch (const std::system_error& error) {
    return CannotStartThread("the lister's", error);
  }
  Listing& listing = *started;
  state_.wake.Add(listing.Fd());
  struct Unwatch {
    WakeSet& wake;
    int fd;
    ~Unwatch() { wake.Remove(fd); }
  } unwatch{state_.wake, listing.Fd()};
  while (true) {
    state_.TakeCommands();
    if (state_.stopping()) return Error{ErrorCode::kInterrupted, "stopped while listing"};
    if (auto held = state_.Held(); !held) return held.error();
    auto news = listing.Take();
    if (news.total > 0) parts().progress.OnListing(news.resolved, news.total);
    if (news.answer) return *std::move(news.answer);
    (void)state_.Wait(SteadyTime::max());
  }
}

Result<Plan> Loop::Impl::MakePlanOf(const std::string& sweep_id, const SweepRequest& request) {
  auto list = List(request);
  if (!list) return list.error();
  for (const std::string& warning : list->warnings) parts().progress.OnWarning(warning);
  // Most likely a mistyped filter: no model is known to have left the ranking.
  if (list->models.empty()) {
    list->ranked = false;
    parts().progress.OnWarning(
        "the listing of " + list->source +
        " is empty: check hub.author, hub.search, hub.task, hub.library and hub.filters; nothing "
        "is captured and the tracked models do not change");
  }
  PlanOptions options = state_.options.plan;
  auto toolchain = ToolchainOf(request);
  if (!toolchain) return toolchain.error();
  options.toolchain = *std::move(toolchain);
  options.primary = !request.imported && options.toolchain.name == state_.options.plan.toolchain.name;
  if (request.imported) {  // an import is not verified, repeated or given other inputs
    options.verify_share = 0, options.repeat = 1;
    options.inputs_specs.clear(), options.ignored_config_keys = {};
  }
  options.rebuild = request.rebuild;
  options.track = request.track;
  options.pinned_architectures.merge(state_.aggregate().PinnedArchitectures());
  const std::vector<std::string> modes = request.saved_plan ? ModesOf(*request.saved_plan) : request.modes;
  if (!modes.empty()) options.modes = modes;
  std::map<std::string, store::CaptureHistory> histories;
  for (const std::string& mode : options.modes) {
    auto of_mode = parts().store.Histories(StructuresOf(*list, options, mode), mode);
    if (!of_mode) return of_mode.error();
    histories.merge(*of_mode);
  }
  std::vector<std::string> models;
  for (const RankedModel& model : list->models) models.push_back(model.info.id);
  auto revisions = parts().store.LatestRevisions(models);
  if (!revisions) return revisions.error();
  const Known known{std::move(histories), *std::move(revisions)};
  return MakePlan(sweep_id, *list, known, options, parts().clock.Now());
}

Result<Toolchain> Loop::Impl::ToolchainOf(const SweepRequest& request) {
  if (request.imported) return state_.UseImport(*request.imported);
  return state_.UseToolchain(request.toolchain, request.python);
}

Loop::Swept Loop::Impl::RunAll(const Request& request) {
  Swept out = RunEach(request);
  const Error* error = out.error ? &*out.error : nullptr;
  for (const std::string& command : request.commands) parts().progress.OnServed(command, error);
  return out;
}

Loop::Swept Loop::Impl::RunEach(const Request& request) {
  Swept out;
  auto first = RunOne(request);
  if (!first) return {{}, first.error()};
  out.sweeps.push_back(*first);
  if (!request.sweep.toolchain.empty() || state_.options.extra_toolchains.empty()) return out;
  auto plan = parts().store.LoadPlan(first->id);
  if (!plan) return out.error = plan.error(), out;
  if (!plan->primary) return out;  // a resumed sweep of a further toolchain
  for (const std::string& name : state_.options.extra_toolchains) {
    Request further;
    further.sweep.trigger = first->trigger;
    further.sweep.rebuild = request.sweep.rebuild;
    further.sweep.toolchain = name;
    further.sweep.saved_plan = *plan;
    auto swept = RunOne(further);
    if (swept)
      out.sweeps.push_back(*std::move(swept));
    else if (!out.error)
      out.error = swept.error().Within("sweep by toolchain " + name);
    if (out.error && (out.error->code == ErrorCode::kInterrupted || out.error->code == ErrorCode::kStore)) break;
  }
  return out;
}

Result<Sweep> Loop::Impl::RunOne(const Request& request) {
  auto swept = RunRequest(request);
  state_.UsePrimary();
  if (swept) return swept;
  // The fold in memory may be ahead of the store.
  state_.ForgetAggregate();
  const Error& error = swept.error();
  if (error.code != ErrorCode::kInterrupted && error.code != ErrorCode::kStore) {
    const std::array events = {SweepFailed(sweep_id_, error)};
    if (parts().store.AppendEvents(events)) state_.EventsStored();
  }
  if (state_.EnsureAggregate()) state_.Publish(/*urgent=*/true);
  if (sweep_id_.empty()) {
    for (const std::string& command : request.commands) parts().progress.OnRefused(command, error);
  }
  parts().progress.OnFailed(error);
  return swept;
}

Result<Sweep> Loop::Impl::RunRequest(const Request& request) {
  sweep_id_.clear();
  if (auto loaded = state_.EnsureAggregate(); !loaded) return loaded.error();
  if (!request.sweep.resume) return BeginNew(request);
  auto unfinished = parts().store.NewestUnfinished();
  if (!unfinished) return unfinished.error();
  if (!*unfinished) return Error{ErrorCode::kNotFound, "nothing to resume: every sweep is finished"};
  return Resume(**unfinished, request);
}

Result<Sweep> Loop::Impl::BeginNew(const Request& request) {
  Sweep sweep;
  sweep.started_at = parts().clock.Now();
  sweep.id = sweep_id_ = MakeSweepId(sweep.started_at);
  Accept(request, sweep.id);
  auto plan = MakePlanOf(sweep.id, request.sweep);
  if (!plan) return plan.error();
  sweep.trigger = request.sweep.trigger;
  sweep.source = plan->source;
  sweep.ranked = plan->ranked;
  sweep.planned = static_cast<int>(plan->models.size());
  sweep.toolchain = plan->toolchain;
  std::vector<store::SweepEnd> given_up;
  if (sweep.ranked) {
    auto ends = GiveUpUnfinished();
    if (!ends) return ends.error();
    given_up = *std::move(ends);
  }
  const std::vector<Event> events = BeginEvents(sweep, *plan);
  const store::CurrentChange change = state_.aggregate().Begin(sweep, *plan);
  // In one transaction: if the new sweep cannot begin, the old ones can still be resumed.
  if (auto begun = parts().store.BeginSweep(sweep, *plan, events, change, given_up); !begun) return begun.error();
  state_.EventsStored();
  parts().progress.OnPlan(*plan, 0);
  SweepRun run(state_, sweep.id, *plan);
  return Execute(sweep, run, *plan);
}

// A new listing makes older unfinished sweeps obsolete: resuming one later would replace new results by old ones.
// Updates the fold in memory; the caller stores the changes.
Result<std::vector<store::SweepEnd>> Loop::Impl::GiveUpUnfinished() {
  auto unfinished = parts().store.Unfinished();
  if (!unfinished) return unfinished.error();
  std::vector<store::SweepEnd> ends;
  for (Sweep& old : *unfinished) {
    auto end = GiveUp(std::move(old));
    if (!end) return end.error();
    ends.push_back(*std::move(end));
  }
  return ends;
}

Result<store::SweepEnd> Loop::Impl::GiveUp(Sweep sweep) {
  auto results = parts().store.Results(sweep.id);
  if (!results) return results.error();
  auto plan = parts().store.LoadPlan(sweep.id);
  if (!plan && plan.error().retryable) return plan.error();
  if (!plan) plan = Plan{};  // damaged; an abandoned sweep does not use its plan
  sweep.statuses.clear(), sweep.modes.clear();
  for (const ModelResult& result : *results) {
    const std::string status(StatusName(result.capture.status));
    ++sweep.statuses[status], ++sweep.modes[result.capture.mode][status];
  }
  sweep.state = SweepState::kFinished;
  sweep.finished_at = parts().clock.Now();
  store::CurrentChange change = state_.aggregate().Finish(sweep, *plan);
  return store::SweepEnd{sweep, {SweepFinished(sweep)}, std::move(change)};
}

// A sweep cannot continue if a model of its plan is missing, because captures are named by their index. It must not be
// resumed repeatedly either.
Error Loop::Impl::GiveUpDamaged(const Sweep& sweep) {
  auto end = GiveUp(sweep);
  if (!end) return end.error();
  if (auto ended = parts().store.FinishSweep(end->sweep, end->events, end->change); !ended) return ended.error();
  state_.EventsStored();
  return {ErrorCode::kStore,
          "the plan of sweep " + sweep.id +
              " is damaged and cannot be resumed; start a new sweep (`breakwatch sweep`). `breakwatch store "
              "check` lists the damage",
          false,
          {}};
}

Result<Sweep> Loop::Impl::Resume(Sweep sweep, const Request& request) {
  sweep_id_ = sweep.id;
  Accept(request, sweep.id);
  auto plan = parts().store.LoadPlan(sweep.id);
  if (!plan && plan.error().retryable) return plan.error();
  if (!plan || plan->models.size() != static_cast<std::size_t>(std::max(sweep.planned, 0))) return GiveUpDamaged(sweep);
  auto results = parts().store.Results(sweep.id);
  if (!results) return results.error();
  const std::array events = {SweepResumed(sweep, results->size())};
  if (auto appended = parts().store.AppendEvents(events); !appended) return appended.error();
  state_.EventsStored();
  parts().progress.OnPlan(*plan, results->size());
  SweepRun run(state_, sweep.id, *plan);
  run.TakeOver(*results);
  const auto opened = state_.UseToolchain(plan->toolchain.name);
  const Toolchain now = opened ? *opened : state_.options.plan.toolchain;
  if (now.Key() != plan->toolchain.Key() || now.worker != plan->toolchain.worker) {
    run.ForbidCaptures("the toolchain changed since this plan was made: " + plan->toolchain.Key() + " worker " +
                       plan->toolchain.worker + " -> " + now.Key() + " worker " + now.worker);
  }
  return Execute(sweep, run, *plan);
}

Result<Sweep> Loop::Impl::Execute(Sweep sweep, SweepRun& run, const Plan& plan) {
  if (const std::string warning = state_.runner().Sandbox().warning; !warning.empty())
    parts().progress.OnWarning(warning);
  auto ran = run.Run();
  sweep.statuses = run.Statuses();
  sweep.modes = run.StatusesByMode();
  if (!ran && ran.error().code == ErrorCode::kInterrupted) NoteInterruption(sweep);
  if (!ran) return ran.error();
  sweep.state = SweepState::kFinished;
  sweep.finished_at = parts().clock.Now();
  sweep.complete = !plan.models.empty() && std::none_of(AllStatuses().begin(), AllStatuses().end(), [&](Status status) {
    return IsIncomplete(status) && sweep.statuses.contains(std::string(StatusName(status)));
  });
  const std::array events = {SweepFinished(sweep)};
  const store::CurrentChange change = state_.aggregate().Finish(sweep, plan);
  if (auto finished = parts().store.FinishSweep(sweep, events, change); !finished) return finished.error();
  state_.EventsStored();
  state_.Publish(/*urgent=*/true);
  parts().progress.OnFinished(sweep);
  return sweep;
}

// For readers of the store only. Resuming does not need it, so it may fail.
void Loop::Impl::NoteInterruption(Sweep sweep) {
  sweep.state = SweepState::kInterrupted;
  sweep.finished_at = parts().clock.Now();
  const std::array events = {SweepFinished(sweep)};
  if (parts().store.FinishSweep(sweep, events, {})) state_.EventsStored();
}

Result<void> Loop::Impl::Serve() {
  if (auto loaded = state_.EnsureAggregate(); !loaded) return loaded;
  if (auto scheduled = ScheduleFirst(); !scheduled) return scheduled;
  while (true) {
    state_.TakeCommands();
    if (state_.stopping()) return {};
    if (auto held = state_.Held(); !held) return held;
    const auto request = NextDue();
    if (!request) {
      if (state_.options.release_when_idle) Release();
      (void)state_.Wait(schedule_.Next());
      continue;
    }
    const Swept swept = RunAll(*request);
    if (!swept.sweeps.empty() && request->own) schedule_.Worked();
    // A client receives the error and decides. The daemon retries its own sweeps, and those that the store interrupted.
    // A failed sweep of a further toolchain waits for the next tick.
    const bool again = swept.error && swept.error->code != ErrorCode::kInterrupted &&
                       ((swept.sweeps.empty() && request->own) || swept.error->code == ErrorCode::kStore);
    if (again) schedule_.Failed(*swept.error, parts().clock.Steady());
  }
}

Result<void> Loop::Impl::ScheduleFirst() {
  auto unfinished = parts().store.NewestUnfinished();
  if (!unfinished) return unfinished.error();
  resume_first_ = unfinished->has_value();
  auto newest = parts().store.Sweeps(kLookBack);
  if (!newest) return newest.error();
  std::erase_if(*newest, [](const Sweep& sweep) { return IsImport(sweep); });
  std::optional<std::chrono::nanoseconds> since;
  if (!newest->empty()) since = parts().clock.Now() - newest->front().started_at;
  schedule_.Begin(state_.options.sweep_interval, parts().clock.Steady(), since);
  return {};
}

std::optional<Request> Loop::Impl::NextDue() {
  const SteadyTime now = parts().clock.Steady();
  schedule_.Use(state_.options.sweep_interval, now);
  const bool retry = schedule_.TakeRetry(now);
  if (std::exchange(resume_first_, false) || (retry && HasUnfinished())) {
    SweepRequest resume;
    resume.trigger = "resume";
    resume.resume = true;
    return Request{.sweep = resume, .own = true};
  }
  if (schedule_.TickIsDue(now) || (retry && state_.options.sweep_interval)) {
    SweepRequest request = state_.options.default_request;
    request.trigger = "interval";
    // If the queue is full of other requests, the tick stays due.
    if (state_.requests.Add(request, "")) schedule_.PassTicks(now);
  }
  return state_.requests.Next();
}

bool Loop::Impl::HasUnfinished() {
  auto unfinished = parts().store.NewestUnfinished();
  return unfinished && unfinished->has_value();
}

Loop::Loop(LoopParts parts, LoopOptions options)
    : impl_(std::make_unique<Impl>(std::move(parts), std::move(options))) {}
Loop::~Loop() = default;

Result<void> Loop::Start() { return impl_->Start(); }
Result<Plan> Loop::PlanOnly(const SweepRequest& request) { return impl_->PlanOnly(request); }
Loop::Swept Loop::RunSweeps(const SweepRequest& request) { return impl_->RunAll({request}); }
Result<Sweep> Loop::RunSweep(const SweepRequest& request) { return impl_->RunOne({request}); }
Result<void> Loop::Serve() { return impl_->Serve(); }

}  // namespace breakwatch::engine
