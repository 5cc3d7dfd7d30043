// The capture part of Runner: turns messages and ends of zygotes into exactly one result for each capture.
#include <algorithm>
#include <variant>

#include "breakwatch/core/text.h"
#include "runner.h"
#include "worker_text.h"

namespace breakwatch::capture {
namespace {

using std::chrono::duration;

constexpr std::size_t kMaxError = 16 * 1024;
constexpr milliseconds kLockRetry{250};

// Appends the last line of standard error, if there is one.
std::string WithLastWords(const std::string& reason, const std::string& stderr_tail) {
  const std::string last = LastLine(stderr_tail);
  return last.empty() ? reason : reason + ": " + last;
}

}  // namespace

void Runner::On(Slot& slot, const Message& message, SteadyTime now) {
  const bool holds = slot.held && slot.held->sent;
  if (const auto* hello = std::get_if<Hello>(&message)) {
    if (!slot.zygote->hello()) OnHello(slot, *hello, now);
  } else if (!slot.zygote->hello()) {
    slot.zygote->Stop("sent a message before hello", true, now);
  } else if (const auto* result = std::get_if<CaptureResult>(&message)) {
    if (holds && result->job_id == slot.held->job.id) {
      Finish(slot, *result);
    } else {
      ++counts_.ignored_results;
    }
  } else if (const auto* begun = std::get_if<PhaseBegun>(&message)) {
    if (holds && begun->job == slot.held->job.id) {
      slot.held->phase = begun->phase;
      slot.held->deadline.Enter(begun->phase, now);
    }
  } else if (const auto* refused = std::get_if<NotUnderstood>(&message)) {
    Log("capture worker: " + Quote(refused->message));
    if (holds) {
      FinishWithout(slot, Status::kNotAttempted, "the worker could not read the capture: " + Quote(refused->message),
                    "");
    }
  }
}

void Runner::OnHello(Slot& slot, const Hello& hello, SteadyTime now) {
  if (hello.protocol != kProtocol) {
    slot.zygote->Stop(WrongProtocol(hello.protocol, hello.toolchain.worker), true, now);
    slot.zygote->SetWrongProtocol();
    return;
  }
  slot.zygote->SetReady(hello);
  toolchain_ = hello.toolchain;
  toolchain_.name = options_.toolchain;
}

void Runner::OnEnd(Slot& slot, SteadyTime now) {
  const std::unique_ptr<Zygote> zygote = std::move(slot.zygote);
  // A zygote that ends between its hello and its first capture counts as a failed start.
  const bool failed_start = !zygote->served() && (!zygote->hello() || slot.held);
  if (!failed_start) {
    OnLoss(slot, *zygote);
  } else {
    const Error error = CannotStart(options_, zygote->Reason(), zygote->StderrTail(kMaxError));
    OnFailedStart(error, now, zygote->wrong_protocol());
  }
}

// A job without a working zygote waits for another zygote. If there is none, it is returned.
void Runner::OnFailedStart(const Error& error, SteadyTime now, bool hopeless) {
  ++counts_.failed_starts;
  failures_in_row_ = hopeless ? std::max(options_.start_attempts, failures_in_row_ + 1) : failures_in_row_ + 1;
  const int doublings = std::min(failures_in_row_ - 1, 16);
  not_before_ = now + std::min(options_.backoff_limit, options_.backoff_first * (1 << doublings));
  Log(std::string(FirstLine(error.message)));
  if (AnyReady() || failures_in_row_ < options_.start_attempts) return;
  refusal_ = error;
  refusal_->retryable = !hopeless;
  not_before_ = now + options_.backoff_limit;
  for (Slot& slot : slots_) {
    if (!slot.held || slot.zygote) continue;
    const std::string& lost = slot.held->first_loss;
    const std::string detail =
        (lost.empty() ? "" : "the worker " + lost + "; then ") + std::string(FirstLine(error.message));
    FinishWithout(slot, lost.empty() ? Status::kNotAttempted : Status::kWorkerLost, detail, error.message);
  }
}

void Runner::OnLoss(Slot& slot, const Zygote& zygote) {
  ++counts_.lost;
  const std::string tail = zygote.StderrTail(kMaxError);
  const std::string reason = WithLastWords(zygote.Reason(), tail);
  const bool holds = slot.held && slot.held->sent;
  Log("capture worker " + reason + (holds ? " (capturing " + slot.held->job.model + ")" : ""));
  if (!holds) return;
  if (slot.held->first_loss.empty()) {
    ++counts_.retried_captures;
    slot.held->first_loss = reason;
    slot.held->sent = false;
    return;
  }
  FinishWithout(slot, Status::kWorkerLost,
                "two workers were lost: the first " + slot.held->first_loss + "; the second " + reason, tail);
}

// A zygote enforces all limits of its capture itself. One that did not is faulty, so it gets no further capture.
void Runner::EndOverdue(Slot& slot, SteadyTime now) {
  if (!slot.held || !slot.held->sent || now < slot.held->deadline.Next()) return;
  const std::string what = slot.held->deadline.Passed(now);
  FinishWithout(slot, Status::kTimeout, what + ", and the worker did not end it", "");
  slot.zygote->Stop("did not end a capture within its limits", true, now);
}

// A capture whose zygote is not ready moves to a ready one, unless it requires a fresh zygote.
void Runner::SendWaiting(SteadyTime now) {
  for (Slot& slot : slots_) {
    if (!slot.Ready()) continue;
    if (!slot.held) {
      const auto waiting = std::find_if(slots_.begin(), slots_.end(), [](const Slot& other) {
        return other.held && !other.held->sent && !other.Ready() && other.held->first_loss.empty();
      });
      if (waiting != slots_.end()) slot.held = std::exchange(waiting->held, std::nullopt);
    }
    if (!slot.held || slot.held->sent || !MayRun(slot, now)) continue;
    const std::string line = CaptureLine(slot.held->job);
    if (line.size() > kMaxLine) {
      FinishWithout(slot, Status::kSkippedTooLarge,
                    "the capture message has " + std::to_string(line.size()) + " bytes; the worker reads at most " +
                        std::to_string(kMaxLine),
                    "");
      continue;
    }
    slot.held->sent = true;
    slot.held->deadline = CaptureDeadline(slot.held->job, options_.overdue, now);
    slot.zygote->Send(line);
    failures_in_row_ = 0;
    not_before_ = {};
    refusal_.reset();
  }
}

bool Runner::AnySent() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.held && slot.held->sent; });
}

// Whether this waiting capture may begin. May end it instead: then it is no longer held.
bool Runner::MayRun(Slot& slot, SteadyTime now) {
  for (const Slot& other : slots_) {
    const bool runs = other.held && other.held->sent;
    if (runs && (slot.held->IsMeasurement() || other.held->IsMeasurement())) return false;
  }
  return LockFor(slot, now);
}

bool Runner::LockFor(Slot& slot, SteadyTime now) {
  if (!waiting_.empty() && now < lock_retry_at_) return false;
  const bool measures = slot.held->IsMeasurement();
  const Result<bool> locked = lock_.Take(measures);
  if (locked && *locked) {
    waiting_.clear();
    return true;
  }
  if (!locked) {
    // Captures still count breaks correctly beside a measurement, which then shows a noisy machine.
    if (!std::exchange(lock_failed_, true)) Log(locked.error().message);
    if (measures)
      FinishWithout(slot, Status::kNotAttempted, "a measurement must run alone: " + locked.error().message, "");
    return !measures;
  }
  waiting_ = measures ? "waits for another measurement or capture on this machine to end"
                      : "waits for another measurement on this machine to end";
  lock_retry_at_ = now + kLockRetry;
  return false;
}

void Runner::Finish(Slot& slot, CaptureResult result) {
  const Held held = *std::exchange(slot.held, std::nullopt);
  if (!AnySent()) lock_.Release(), waiting_.clear();
  result.job_id = held.job.id;
  result.started_at = held.started_at;
  result.wall_s = duration<double>(clock_.Steady() - held.began).count();
  if (result.detail.empty()) result.detail = "the worker sent no detail";
  if (result.mode.empty()) result.mode = held.job.mode;
  if (result.architecture.empty()) result.architecture = held.job.architecture;
  if (result.toolchain.torch.empty()) result.toolchain = toolchain_;
  result.toolchain.name = options_.toolchain;
  result.sandbox = options_.sandbox;
  finished_.push_back(std::move(result));
}

void Runner::Refuse(const CaptureJob& job, const std::string& why) {
  CaptureResult result;
  result.job_id = job.id;
  result.detail = why;
  result.mode = job.mode;
  result.architecture = job.architecture;
  result.toolchain = toolchain_;
  result.sandbox = options_.sandbox;
  result.started_at = clock_.Now();
  finished_.push_back(std::move(result));
}

void Runner::FinishWithout(Slot& slot, Status status, const std::string& detail, const std::string& error) {
  CaptureResult result;
  result.status = status;
  result.detail = detail;
  result.phase = slot.held->phase;
  result.error = Truncate(error, kMaxError);
  Finish(slot, std::move(result));
}

}  // namespace breakwatch::capture
