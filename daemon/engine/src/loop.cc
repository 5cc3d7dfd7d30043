#include "breakwatch/engine/loop.h"

#include <malloc.h>

#include <memory>
#include <set>
#include <utility>

#include "breakwatch/core/mode.h"
#include "loop_state.h"
#include "one_sweep.h"
#include "schedule.h"

namespace breakwatch::engine {
namespace {

// The maximum number of imports to skip when searching for the newest sweep.
constexpr int kLookBack = 64;

}  // namespace

class Loop::Impl {
 public:
  Impl(LoopParts parts, LoopOptions options) : state_(std::move(parts), std::move(options)) {}

  Result<void> Start() {
    if (auto loaded = state_.BeginAggregate(); !loaded) return loaded;
    if (!state_.folds()) PublishTracked();
    return {};
  }

  Result<Sweep> RunSweep(const SweepRequest& request) { return engine::RunSweep(state_, {request}); }
  Swept RunByEveryToolchain(const Request& request);
  void RunFurtherToolchains(const Request& request, const Plan& plan, Swept& out);
  void TryFixes(const Request& request, const Plan& plan, Swept& out);
  Result<void> Serve();

 private:
  LoopParts& parts() { return state_.parts; }

  // --- serving
  void Answer(const Request& request, const Swept& swept);
  void ScheduleRetry(const Request& request, const Swept& swept);
  Result<void> ScheduleFirst();
  std::optional<Request> NextDue();
  // An empty fold must not clear what an earlier run of this daemon published.
  void PublishTracked() {
    if (state_.aggregate().HasTracked()) state_.Publish(/*urgent=*/true);
  }
  // False: the history is still folded. Error: it cannot be.
  Result<bool> HasState();
  void PublishNextDue();
  bool HasUnfinished();
  // Between sweeps, stops the zygotes and returns unused memory to the system.
  void Release() {
    (void)parts().runner.StopAll();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
  }

  LoopState state_;
  Schedule schedule_;
  std::optional<SteadyTime> noted_tick_;  // whose time is published
  bool resume_first_ = false;
};

Loop::Swept Loop::Impl::RunByEveryToolchain(const Request& request) {
  auto first = engine::RunSweep(state_, request);
  if (!first) return {{}, first.error()};
  Swept out{{*first}, std::nullopt};
  const bool alone = !request.sweep.toolchain.name.empty() || state_.options.extra_toolchains.empty();
  if (alone && !request.sweep.try_fixes) return out;
  auto plan = parts().sweeps.LoadPlan(first->id);
  if (!plan) return out.error = plan.error(), out;
  if (!plan->primary) return out;  // a resumed sweep of a further toolchain
  const bool tried = !plan->models.empty() && std::all_of(plan->models.begin(), plan->models.end(),
                                                          [](const auto& model) { return model.mode == kFixMode; });
  if (tried) return out;  // a resumed sweep of fixes: they are tried by the primary toolchain only
  if (!alone) RunFurtherToolchains(request, *plan, out);
  if (request.sweep.try_fixes && !out.error) TryFixes(request, *plan, out);
  return out;
}

void Loop::Impl::RunFurtherToolchains(const Request& request, const Plan& plan, Swept& out) {
  // A copy, because a reload during a sweep replaces the options.
  const std::vector<std::string> names = state_.options.extra_toolchains;
  for (const std::string& name : names) {
    Request further;
    further.sweep.trigger = out.sweeps.front().trigger;
    further.sweep.rebuild = request.sweep.rebuild;
    further.sweep.toolchain.name = name;
    further.sweep.saved_plan = plan;
    auto swept = engine::RunSweep(state_, further);
    if (swept)
      out.sweeps.push_back(*std::move(swept));
    else if (!out.error)
      out.error = swept.error().Within("sweep by toolchain " + name);
    if (out.error && (out.error->code == ErrorCode::kInterrupted || out.error->code == ErrorCode::kStore)) break;
  }
}

// The models of the first sweep that break in the main mode, in a sweep of their own: a fix must not delay a count.
void Loop::Impl::TryFixes(const Request& request, const Plan& plan, Swept& out) {
  std::set<std::string> broken;
  const auto read = parts().sweeps.EachOutcome(out.sweeps.front().id, [&](const ModelResult& result) -> Result<void> {
    if (result.capture.mode == kMainMode && result.capture.status == Status::kGraphBreaks)
      broken.insert(result.info.id);
    return {};
  });
  if (!read) {
    out.error = read.error();
    return;
  }
  Request fixes;
  fixes.sweep.fix = request.sweep.fix;
  fixes.sweep.rebuild = request.sweep.rebuild;
  fixes.sweep.saved_plan.emplace().source = plan.source;
  for (const PlannedModel& planned : plan.models) {
    if (planned.mode != kMainMode || !broken.contains(planned.info.id)) continue;
    fixes.sweep.saved_plan->models.push_back(planned);
    fixes.sweep.saved_plan->models.back().mode = kFixMode;
  }
  if (fixes.sweep.saved_plan->models.empty()) return;
  auto swept = engine::RunSweep(state_, fixes);
  if (swept)
    out.sweeps.push_back(*std::move(swept));
  else
    out.error = swept.error().Within("sweep of mode fix");
}

Result<bool> Loop::Impl::HasState() {
  if (!state_.folds()) return true;
  if (auto ended = state_.EndFold(); !ended) return ended.error();
  if (!state_.folds()) PublishTracked();
  return !state_.folds();
}

Result<void> Loop::Impl::Serve() {
  if (!state_.folds()) {
    if (auto loaded = state_.EnsureAggregate(); !loaded) return loaded;
  }
  if (auto scheduled = ScheduleFirst(); !scheduled) return scheduled;
  while (true) {
    state_.TakeCommands();
    if (state_.stopping()) return {};
    if (auto held = state_.Held(); !held) return held;
    if (auto has_state = HasState(); !has_state || !*has_state) {
      if (!has_state) return has_state.error();
      (void)state_.Wait(SteadyTime::max());
      continue;
    }
    const auto request = NextDue();
    if (!request) {
      if (state_.options.release_when_idle) Release();
      (void)state_.Wait(schedule_.Next());
      continue;
    }
    state_.Serve(*request);
    const Swept swept = RunByEveryToolchain(*request);
    Answer(*request, swept);
    state_.Serve({});
    ScheduleRetry(*request, swept);
  }
}

void Loop::Impl::Answer(const Request& request, const Swept& swept) {
  const Error* error = swept.error ? &*swept.error : nullptr;
  for (const std::string& command : request.commands) parts().progress.OnServed(command, error);
}

// A client receives the error and decides. The daemon retries its own sweeps, and those that the store interrupted.
// A failed sweep of a further toolchain waits for the next tick.
void Loop::Impl::ScheduleRetry(const Request& request, const Swept& swept) {
  const bool failed = swept.sweeps.empty();
  if (!failed && request.own) schedule_.Worked();
  if (!swept.error || swept.error->code == ErrorCode::kInterrupted) return;
  if ((failed && request.own) || swept.error->code == ErrorCode::kStore)
    schedule_.Failed(*swept.error, parts().clock.Steady());
}

Result<void> Loop::Impl::ScheduleFirst() {
  auto unfinished = parts().sweeps.NewestUnfinished();
  if (!unfinished) return unfinished.error();
  resume_first_ = unfinished->has_value();
  auto newest = parts().sweeps.Sweeps(kLookBack);
  if (!newest) return newest.error();
  std::erase_if(*newest, [](const Sweep& sweep) { return IsImport(sweep) || sweep.trigger == SweepTrigger::kMeasure; });
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
    resume.trigger = SweepTrigger::kResume;
    resume.resume = true;
    resume.try_fixes = state_.options.default_request.try_fixes;
    return Request{.sweep = resume, .own = true};
  }
  if (schedule_.TickIsDue(now) || (retry && state_.options.sweep_interval)) {
    SweepRequest request = state_.options.default_request;
    request.trigger = SweepTrigger::kInterval;
    // If the queue is full of other requests, the tick stays due.
    if (state_.requests.Add(request, "")) schedule_.PassTicks(now);
  }
  PublishNextDue();
  return state_.requests.Next();
}

// Publishes the time of the next tick when it changed.
void Loop::Impl::PublishNextDue() {
  const auto tick = schedule_.NextTick();
  if (tick == noted_tick_) return;
  noted_tick_ = tick;
  state_.next_due = tick ? parts().clock.Now() + (*tick - parts().clock.Steady()) : SystemTime{};
  if (state_.EnsureAggregate()) PublishTracked();
}

bool Loop::Impl::HasUnfinished() {
  auto unfinished = parts().sweeps.NewestUnfinished();
  return unfinished && unfinished->has_value();
}

Loop::Loop(LoopParts parts, LoopOptions options)
    : impl_(std::make_unique<Impl>(std::move(parts), std::move(options))) {}
Loop::~Loop() = default;

Result<void> Loop::Start() { return impl_->Start(); }
Result<Sweep> Loop::RunSweep(const SweepRequest& request) { return impl_->RunSweep(request); }
Loop::Swept Loop::RunByEveryToolchain(const SweepRequest& request) { return impl_->RunByEveryToolchain({request}); }
Result<void> Loop::Serve() { return impl_->Serve(); }

}  // namespace breakwatch::engine
