// Runner: the slots for zygotes and their captures. zygote_runner.h has the contract.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/capture/zygote_runner.h"
#include "capture_deadline.h"
#include "machine_lock.h"
#include "message.h"
#include "zygote.h"

namespace breakwatch::capture {

// A capture that was started and has not ended.
struct Held {
  // It runs alone on this machine.
  bool IsMeasurement() const { return !job.measure_json.empty(); }

  CaptureJob job;
  SystemTime started_at;
  SteadyTime began;
  bool sent = false;       // to the zygote of its slot
  std::string first_loss;  // why the first zygote was lost; empty during the first attempt
  std::string phase;       // the phase that began last
  CaptureDeadline deadline;
};

// A slot for one zygote and one capture. Each can be present without the other.
struct Slot {
  bool Ready() const { return zygote && zygote->ready(); }

  std::unique_ptr<Zygote> zygote;
  std::optional<Held> held;
};

class Runner final : public CaptureRunner {
 public:
  Runner(ZygoteOptions options, const Clock& clock);
  ~Runner() override;

  std::size_t Capacity() const override;
  Result<void> Start(const CaptureJob& job) override;
  Waited Wait(SteadyTime until, int wake_fd) override;
  std::vector<std::string> StopAll() override;
  std::string Waiting() const override { return waiting_; }
  SandboxState Sandbox() const override { return {options_.sandbox, options_.sandbox_warning}; }
  std::optional<WorkerCounts> Workers() const override { return counts_; }

 private:
  // Processes.
  Slot* BestFreeSlot();
  bool AnyReady() const;
  Result<void> Launch(Slot& slot, SteadyTime now);
  void LaunchDue(SteadyTime now);
  bool Poll(SteadyTime* now, SteadyTime until, int wake_fd);
  void Service(Slot& slot, SteadyTime now);
  SteadyTime NextDeadline() const;
  void KillZygotes();

  // Received messages.
  void On(Slot& slot, const Message& message, SteadyTime now);
  void OnHello(Slot& slot, const Hello& hello, SteadyTime now);
  void OnEnd(Slot& slot, SteadyTime now);
  void OnFailedStart(const Error& error, SteadyTime now, bool hopeless);
  void OnLoss(Slot& slot, const Zygote& zygote);
  void EndOverdue(Slot& slot, SteadyTime now);

  // Captures.
  void SendWaiting(SteadyTime now);
  bool MayRun(Slot& slot, SteadyTime now);
  bool LockFor(Slot& slot, SteadyTime now);
  bool AnySent() const;
  void Refuse(const CaptureJob& job, const std::string& why);
  void Finish(Slot& slot, CaptureResult result);
  void FinishWithout(Slot& slot, Status status, const std::string& detail, const std::string& error);
  void Log(const std::string& line) const;

  const ZygoteOptions options_;
  const Clock& clock_;
  std::vector<Slot> slots_;
  std::deque<CaptureResult> finished_;  // until Wait returns them
  WorkerCounts counts_;
  Toolchain toolchain_;      // from the newest hello
  int failures_in_row_ = 0;  // starts that failed before hello
  SteadyTime not_before_{};  // earliest time of the next start, after failures
  MachineLock lock_;         // held while a capture runs
  SteadyTime lock_retry_at_{};
  bool lock_failed_ = false;      // reported once
  std::string waiting_;           // Waiting()
  std::optional<Error> refusal_;  // while set, Start refuses until not_before_
};

}  // namespace breakwatch::capture
