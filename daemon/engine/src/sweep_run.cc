#include "sweep_run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "breakwatch/core/selector.h"
#include "breakwatch/core/text.h"
#include "events.h"

namespace breakwatch::engine {
namespace {

// How long a runner without room may keep quiet: its zygotes come and go without telling.
constexpr std::chrono::seconds kLookAgain{1};

// Unique over sweeps and stable over a resume: a capture belongs to one place of one plan.
std::string CaptureId(const std::string& sweep_id, std::size_t index) {
  char place[16];
  std::snprintf(place, sizeof place, "%05zu", index + 1);
  return sweep_id + "-" + place;
}

std::string Described(const Toolchain& toolchain) { return toolchain.Key() + " worker " + toolchain.worker; }

}  // namespace

SweepRun::SweepRun(LoopState& state, std::string sweep_id, const Plan& plan)
    : state_(state),
      sweep_id_(std::move(sweep_id)),
      plan_(plan),
      limits_(state.options.limits),
      done_(plan.models.size(), false) {}

void SweepRun::TakeOver(const std::vector<ModelResult>& results) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < plan_.models.size(); ++i) places[plan_.models[i].info.id] = i;
  for (const ModelResult& result : results) {
    const auto place = places.find(result.info.id);
    if (place == places.end() || done_[place->second]) continue;
    done_[place->second] = true;
    ++done_count_;
    ++statuses_[std::string(StatusName(result.capture.status))];
    if (plan_.models[place->second].action == Action::kCapture) earlier_[result.info.id] = result;
  }
}

// Sorts what is left of the plan by what it waits for.
void SweepRun::Schedule() {
  std::map<std::string, bool> leads;
  for (const PlannedModel& planned : plan_.models) leads[planned.info.id] = planned.action == Action::kCapture;
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
      case Action::kShare:
        if (earlier_.contains(planned.shared_from)) {
          known_.push_back(i);
        } else if (leads[planned.shared_from]) {
          shares_[planned.shared_from].push_back(i);
        } else {
          to_capture_.push_back(i);  // a plan cut by hand: the model it names is not in it
        }
        break;
    }
  }
}

Result<void> SweepRun::Run() {
  Schedule();
  auto ended = RunToEnd();
  if (!ended) (void)state_.parts.runner.StopAll();  // they have no final status and will be captured again
  return ended;
}

Result<void> SweepRun::RunToEnd() {
  while (done_count_ < plan_.models.size()) {
    state_.TakeCommands();
    if (state_.stopping()) return Error{ErrorCode::kInterrupted, "sweep " + sweep_id_ + " stopped"};
    if (auto started = StartCaptures(); !started) return started;
    if (!known_.empty()) {
      if (auto settled = SettleOne(); !settled) return settled;
    }
    if (auto waited = WaitForCapture(); !waited) return waited;
    PublishWhenDue();
  }
  return {};
}

Result<void> SweepRun::StartCaptures() {
  while (!to_capture_.empty() && !unable_ && state_.parts.runner.Capacity() > 0) {
    const std::size_t index = to_capture_.front();
    const CaptureJob job = JobOf(index);
    if (auto started = state_.parts.runner.Start(job); !started) {
      unable_ = started.error().message;
      break;
    }
    to_capture_.pop_front();
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

Result<void> SweepRun::SettleOne() {
  const std::size_t index = known_.front();
  known_.pop_front();
  return SettleKnown(index);
}

// A model whose result needs no capture of its own.
Result<void> SweepRun::SettleKnown(std::size_t index) {
  const PlannedModel& planned = plan_.models[index];
  if (planned.action == Action::kShare) {
    const ModelResult& leader = earlier_.at(planned.shared_from);
    ModelResult result = ResultOf(index);
    result.capture = leader.capture;
    result.capture_id = leader.capture_id;
    result.shared_from = planned.shared_from;
    return Append(std::move(result));
  }
  if (planned.action == Action::kReuse) {
    auto capture = state_.parts.store.LoadCapture(planned.capture_id);
    if (!capture && capture.error().code == ErrorCode::kNotFound) {
      to_capture_.push_back(index);  // gone since the plan was made
      return {};
    }
    if (!capture) return capture.error();
    ModelResult result = ResultOf(index);
    result.capture = *std::move(capture);
    result.capture_id = planned.capture_id;
    result.reused = true;
    return Append(std::move(result));
  }
  ModelResult result = ResultOf(index);
  result.capture.status = planned.status.value_or(Status::kNotAttempted);
  result.capture.detail = planned.detail;
  return Append(std::move(result));
}

Result<void> SweepRun::WaitForCapture() {
  if (running_.empty() && known_.empty() && to_capture_.empty()) return {};
  SteadyTime until = SteadyTime::max();
  if (!known_.empty()) until = state_.parts.clock.Steady();  // only a look: there is work
  if (!to_capture_.empty()) until = std::min(until, state_.parts.clock.Steady() + kLookAgain);
  if (unpublished_) until = std::min(until, state_.published_at + state_.options.snapshot_interval);
  auto waited = state_.Wait(until);
  return waited.finished ? FinishCapture(*std::move(waited.finished)) : Result<void>();
}

// An environment that was upgraded under the sweep: what it found must not stand for what was planned.
CaptureResult SweepRun::CapturedByAnother(CaptureResult capture) const {
  CaptureResult lost;
  lost.job_id = capture.job_id;
  lost.status = Status::kWorkerLost;
  lost.detail = "captured by " + Described(capture.toolchain) + " where the plan says " + Described(plan_.toolchain) +
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
  if (job == running_.end()) return {};  // not of this sweep
  const std::size_t index = job->second;
  running_.erase(job);
  if (capture.toolchain.torch.empty()) capture.toolchain = plan_.toolchain;
  capture.toolchain.name = plan_.toolchain.name;  // the worker does not know what it is called here
  if (Described(capture.toolchain) != Described(plan_.toolchain)) capture = CapturedByAnother(std::move(capture));
  // Nothing was captured: there is no capture to name.
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
  const auto shares = shares_.find(model);
  if (shares == shares_.end()) return {};
  for (const std::size_t share : shares->second) {
    ModelResult shared = ResultOf(share);
    shared.capture = result.capture;
    shared.capture_id = result.capture_id;
    if (!shared.capture_id.empty()) shared.shared_from = model;
    if (auto appended = Append(std::move(shared)); !appended) return appended;
  }
  shares_.erase(shares);
  return {};
}

Result<void> SweepRun::Append(ModelResult result) {
  if (result.capture.detail.empty()) result.capture.detail = StatusName(result.capture.status);
  Aggregate& aggregate = state_.aggregate();
  // The events compare with the row as it was, so they come before the fold.
  const std::vector<Event> events =
      ResultEvents(result, aggregate.Find(result.info.id), aggregate.PublishedToolchain());
  const store::CurrentChange change = aggregate.Apply(result);
  if (auto appended = state_.parts.store.AppendResult(result, events, change); !appended) {
    return appended.error().Within("storing the result of " + result.info.id);
  }
  ++done_count_;
  ++statuses_[std::string(StatusName(result.capture.status))];
  unpublished_ = true;
  state_.EventsStored();
  state_.parts.progress.OnResult(result, done_count_, plan_.models.size());
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
  CaptureJob job;
  job.id = CaptureId(sweep_id_, index);
  job.model = planned.info.id;
  job.revision = planned.info.sha;
  job.config_json = planned.config_json;
  job.is_source = RunsOwnCode(planned.info);
  if (!planned.info.architectures.empty()) job.architecture = planned.info.architectures.front();
  job.task = planned.info.task;
  job.library = planned.info.library;
  job.mode = planned.mode;
  job.depth = planned.depth;
  job.structure = planned.structure;
  job.limits = limits_;
  return job;
}

void SweepRun::PublishWhenDue() {
  if (!unpublished_ || state_.parts.clock.Steady() < state_.published_at + state_.options.snapshot_interval) return;
  state_.Publish(/*urgent=*/false);
  unpublished_ = false;
}

}  // namespace breakwatch::engine
