#include "sweep_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "breakwatch/core/fix.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "events.h"

namespace breakwatch::engine {
namespace {

// The maximum wait for a runner without a free slot, because zygotes start and end without notice.
constexpr std::chrono::seconds kLookAgain{1};

// The number of known results stored together, at one time. A transaction costs more than its content, and the store
// keeps equal results of one time as one row, but a capture that ends meanwhile waits for it.
constexpr std::size_t kKnownTogether = 512;

// Unique over all sweeps and stable across a resume: a capture has one index in one plan.
std::string CaptureId(const std::string& sweep_id, std::size_t index) {
  char place[16];
  std::snprintf(place, sizeof place, "%05zu", index + 1);
  return sweep_id + "-" + place;
}

std::string Described(const Toolchain& toolchain) { return toolchain.Key() + " worker " + toolchain.worker; }

// Trying fixes is a capture, and then as many as fit in the budget.
std::chrono::milliseconds TimeForFixes(const std::string& fix_json, std::chrono::milliseconds capture) {
  const auto options = FixOptionsFromJson(fix_json);
  if (!options) return capture;
  return capture + std::chrono::milliseconds(static_cast<std::int64_t>(options->budget_s * 1000));
}

}  // namespace

SweepRun::SweepRun(LoopState& state, std::string sweep_id, Plan& plan)
    : state_(state),
      sweep_id_(std::move(sweep_id)),
      plan_(plan),
      limits_(state.options.limits),
      done_(plan.models.size(), false),
      admission_(state.options.memory_bytes, state.parts.available_memory) {}

void SweepRun::TakeOver(const std::vector<ModelResult>& results, const std::vector<bool>& stored) {
  std::map<Entry, std::size_t> places;
  for (std::size_t i = 0; i < plan_.models.size(); ++i) places[{plan_.models[i].info.id, plan_.models[i].mode}] = i;
  for (const ModelResult& result : results) {
    const auto place = places.find({result.info.id, result.capture.mode});
    if (place == places.end() || done_[place->second]) continue;
    done_[place->second] = true;
    Settled(place->second);
    Count(result);
    if (plan_.models[place->second].action == Action::kCapture) earlier_[place->first] = result;
  }
  // A damaged result stays as it is: the store takes no second one.
  for (std::size_t i = 0; i < std::min(stored.size(), done_.size()); ++i) {
    if (!stored[i] || done_[i]) continue;
    done_[i] = true;
    Settled(i);
    ++done_count_, ++damaged_;
  }
}

void SweepRun::Count(const ModelResult& result) {
  ++done_count_;
  const std::string status(StatusName(result.capture.status));
  ++statuses_[status];
  ++by_mode_[result.capture.mode][status];
}

// Sorts the rest of the plan by what each entry waits for.
void SweepRun::Schedule() {
  std::map<Entry, bool> leads;
  for (std::size_t i = 0; i < plan_.models.size(); ++i) {
    const PlannedModel& planned = plan_.models[i];
    leads[{planned.info.id, planned.mode}] = planned.action == Action::kCapture && !done_[i];
  }
  for (std::size_t i = 0; i < plan_.models.size(); ++i) {
    if (done_[i]) continue;
    const PlannedModel& planned = plan_.models[i];
    switch (planned.action) {
      case Action::kSkip:
      case Action::kReuse:
        known_.push_back(i);
        break;
      case Action::kCapture:
        to_capture_.push_back(i);
        break;
      case Action::kShare: {
        const Entry leader{planned.shared_from, planned.mode};
        if (earlier_.contains(leader)) {
          known_.push_back(i);
        } else if (leads[leader]) {
          shares_[leader].push_back(i);
        } else {
          // The plan was edited by hand and the model that it refers to is missing, or that model's result is damaged.
          to_capture_.push_back(i);
        }
        break;
      }
    }
  }
}

// If the store fails here, only the better order is lost.
void SweepRun::ExpectCosts() {
  std::map<std::string, std::array<std::vector<std::string>, 3>> names;  // by mode; in the order of store::CostOf
  for (const std::size_t index : to_capture_) {
    const PlannedModel& planned = plan_.models[index];
    auto& [structures, classes, types] = names[planned.mode];
    structures.push_back(planned.structure);
    if (!planned.info.architectures.empty()) classes.push_back(planned.info.architectures.front());
    if (!planned.info.model_type.empty()) types.push_back(planned.info.model_type);
  }
  std::map<std::string, KnownCosts> costs;
  for (const auto& [mode, of_mode] : names) {
    CostsByName* const known[] = {&costs[mode].structures, &costs[mode].classes, &costs[mode].model_types};
    for (std::size_t kind = 0; kind < of_mode.size(); ++kind) {
      auto found = state_.parts.sweeps.Costs(static_cast<store::CostOf>(kind), of_mode[kind], mode);
      if (found) *known[kind] = *std::move(found);
    }
  }
  admission_.Expect(engine::ExpectCosts(plan_, costs));
  admission_.Sort(to_capture_);
}

Result<void> SweepRun::CaptureAll() {
  Schedule();
  ExpectCosts();
  while (done_count_ < plan_.models.size()) {
    if (auto stepped = Step(); !stepped) {
      (void)state_.runner().StopAll();  // they have no final status and will be captured again
      return stepped;
    }
  }
  return {};
}

Result<void> SweepRun::Step() {
  state_.TakeCommands();
  if (state_.stopping()) return Error{ErrorCode::kInterrupted, "sweep " + sweep_id_ + " stopped"};
  if (state_.cancelled()) return Error{ErrorCode::kInterrupted, "sweep " + sweep_id_ + " was cancelled"};
  if (auto held = state_.Held(); !held) return held;
  if (auto started = StartCaptures(); !started) return started;
  if (!known_.empty()) {
    if (auto settled = SettleSome(); !settled) return settled;
  }
  NoteWaiting();
  if (auto waited = WaitForCapture(); !waited) return waited;
  PublishWhenDue();
  return {};
}

Result<void> SweepRun::StartCaptures() {
  while (!to_capture_.empty() && !unable_ && state_.runner().Capacity() > 0) {
    const auto place = admission_.Next(to_capture_);
    if (!place) break;  // not enough memory now: retry when a capture ends
    const std::size_t index = to_capture_[*place];
    const CaptureJob job = JobOf(index);
    if (auto started = state_.runner().Start(job); !started) {
      unable_ = started.error().message;
      break;
    }
    to_capture_.erase(to_capture_.begin() + static_cast<std::ptrdiff_t>(*place));
    admission_.Started(index);
    running_[job.id] = index;
    state_.parts.progress.OnStarted(job.model);
  }
  while (unable_ && !to_capture_.empty()) {
    const std::size_t index = to_capture_.front();
    to_capture_.pop_front();
    if (auto ended = EndWithoutCapture(index, *unable_); !ended) return ended;
  }
  return {};
}

Result<void> SweepRun::SettleSome() {
  std::vector<ModelResult> results;
  while (!known_.empty() && results.size() < kKnownTogether) {
    const std::size_t index = known_.front();
    known_.pop_front();
    auto result = KnownResult(index);
    if (!result) return result.error();
    if (!*result) continue;
    results.push_back(**std::move(result));
    Settled(index);
  }
  const SystemTime now = state_.parts.clock.Now();
  for (ModelResult& result : results) result.finished_at = now;
  return Append(std::move(results));
}

// The result of a model that needs no capture of its own; nullopt if it needs one after all.
Result<std::optional<ModelResult>> SweepRun::KnownResult(std::size_t index) {
  const PlannedModel& planned = plan_.models[index];
  ModelResult result = ResultOf(index);
  if (planned.action == Action::kShare) {
    const ModelResult& leader = earlier_.at({planned.shared_from, planned.mode});
    result.capture = leader.capture;
    result.capture_id = leader.capture_id;
    result.shared_from = planned.shared_from;
  } else if (planned.action == Action::kReuse) {
    auto capture = state_.parts.sweeps.LoadCapture(planned.capture_id);
    if (!capture && capture.error().code == ErrorCode::kNotFound) {
      to_capture_.push_back(index);  // removed since the plan was made
      return std::optional<ModelResult>();
    }
    if (!capture) return capture.error();
    result.capture = *std::move(capture);
    result.capture_id = planned.capture_id;
    result.reused = true;
  } else {
    result.capture.status = planned.status.value_or(Status::kNotAttempted);
    result.capture.detail = planned.detail;
  }
  return std::optional(std::move(result));
}

Result<void> SweepRun::WaitForCapture() {
  if (running_.empty() && known_.empty() && to_capture_.empty()) return {};
  SteadyTime until = SteadyTime::max();
  if (!known_.empty()) until = state_.parts.clock.Steady();  // poll only: there is work
  if (!to_capture_.empty()) until = std::min(until, state_.parts.clock.Steady() + kLookAgain);
  if (unpublished_) until = std::min(until, state_.published_at + state_.options.snapshot_interval);
  auto waited = state_.Wait(until);
  return waited.finished ? FinishCapture(*std::move(waited.finished)) : Result<void>();
}

// The environment was upgraded during the sweep: its results do not belong to the planned toolchain.
CaptureResult SweepRun::CapturedByAnother(CaptureResult capture) const {
  CaptureResult lost;
  lost.job_id = capture.job_id;
  lost.status = Status::kWorkerLost;
  lost.detail = "captured by " + Described(capture.toolchain) + " instead of " + Described(plan_.toolchain) +
                ": the toolchain changed during the sweep";
  lost.phase = capture.phase;
  lost.mode = capture.mode;
  lost.toolchain = capture.toolchain;
  lost.started_at = capture.started_at;
  lost.wall_s = capture.wall_s;
  return lost;
}

Result<void> SweepRun::FinishCapture(CaptureResult capture) {
  const auto job = running_.find(capture.job_id);
  if (job == running_.end()) return {};  // not a job of this sweep
  const std::size_t index = job->second;
  running_.erase(job);
  admission_.Ended(index);
  if (capture.toolchain.torch.empty()) capture.toolchain = plan_.toolchain;
  capture.toolchain.name = plan_.toolchain.name;  // the worker does not know its configured name
  capture.mode = plan_.models[index].mode;        // part of the result's key: the worker may not choose it
  if (IsMeasureMode(capture.mode) && !state_.options.plan.machine.empty())
    capture.mode_detail_json = WithMachine(std::move(capture.mode_detail_json), state_.options.plan.machine);
  if (Described(capture.toolchain) != Described(plan_.toolchain)) capture = CapturedByAnother(std::move(capture));
  // Nothing was captured, so there is no capture id.
  std::string id = capture.status == Status::kNotAttempted ? "" : CaptureId(sweep_id_, index);
  return Settle(index, std::move(capture), std::move(id));
}

Result<void> SweepRun::EndWithoutCapture(std::size_t index, const std::string& why) {
  CaptureResult capture;
  capture.status = Status::kNotAttempted;
  capture.detail = why;
  capture.mode = plan_.models[index].mode;
  capture.toolchain = plan_.toolchain;
  return Settle(index, std::move(capture), "");
}

Result<void> SweepRun::Settle(std::size_t index, CaptureResult capture, std::string capture_id) {
  const std::string& model = plan_.models[index].info.id;
  ModelResult result = ResultOf(index);
  result.capture = std::move(capture);
  result.capture_id = std::move(capture_id);
  if (auto appended = Append(result); !appended) return appended;
  Settled(index);
  const auto shares = shares_.find({model, plan_.models[index].mode});
  if (shares == shares_.end()) return {};
  for (const std::size_t share : shares->second) {
    ModelResult shared = ResultOf(share);
    shared.capture = result.capture;
    shared.capture_id = result.capture_id;
    if (!shared.capture_id.empty()) shared.shared_from = model;
    if (auto appended = Append(std::move(shared)); !appended) return appended;
    Settled(share);
  }
  shares_.erase(shares);
  return {};
}

Result<void> SweepRun::Append(ModelResult result) {
  std::vector<ModelResult> one;
  one.push_back(std::move(result));
  return Append(std::move(one));
}

Result<void> SweepRun::Append(std::vector<ModelResult> results) {
  if (results.empty()) return {};
  Aggregate& aggregate = state_.aggregate();
  std::vector<store::ResultWrite> writes;
  for (ModelResult& result : results) {
    if (result.capture.detail.empty()) result.capture.detail = StatusName(result.capture.status);
    // The events compare the result with the row before it, so they come before the fold.
    std::vector<Event> events = ResultEvents(result, aggregate.Find(result.info.id), aggregate.PublishedToolchain());
    store::CurrentChange change = aggregate.Apply(result);
    writes.push_back({std::move(result), std::move(events), std::move(change)});
  }
  if (auto appended = state_.parts.sweeps.AppendResults(writes); !appended) {
    return appended.error().Within("cannot store the result of " + writes.front().result.info.id);
  }
  unpublished_ = true;
  state_.EventsStored();
  for (const store::ResultWrite& write : writes) {
    Count(write.result);
    state_.parts.progress.OnResult(write.result, done_count_, plan_.models.size());
  }
  return {};
}

ModelResult SweepRun::ResultOf(std::size_t index) const {
  const PlannedModel& planned = plan_.models[index];
  ModelResult result;
  result.sweep_id = sweep_id_;
  result.info = planned.info;
  result.structure = planned.structure;
  result.rebuild_reason = planned.reason;
  result.capture.mode = planned.mode;
  result.capture.toolchain = plan_.toolchain;
  result.finished_at = state_.parts.clock.Now();
  return result;
}

CaptureJob SweepRun::JobOf(std::size_t index) const {
  const PlannedModel& planned = plan_.models[index];
  CaptureJob job = engine::JobOf(planned, limits_);
  job.id = CaptureId(sweep_id_, index);
  if (planned.mode == kFixMode) {
    job.limits.capture = TimeForFixes(planned.fix_json, job.limits.capture);
  } else if (IsMeasureMode(planned.mode)) {
    job.limits.capture = state_.options.measure_timeout;
  }
  return job;
}

void SweepRun::NoteWaiting() {
  const std::string why = state_.runner().Waiting();
  if (why == waiting_) return;
  waiting_ = why;
  state_.parts.progress.OnWaiting(waiting_);
}

void SweepRun::PublishWhenDue() {
  if (!unpublished_ || state_.parts.clock.Steady() < state_.published_at + state_.options.snapshot_interval) return;
  state_.Publish(/*urgent=*/false);
  unpublished_ = false;
}

}  // namespace breakwatch::engine
