// LoopState: what one sweep and the loop around it share. The loop's thread only.
#pragma once

#include <memory>
#include <optional>

#include "breakwatch/engine/loop.h"
#include "requests.h"
#include "wake_set.h"

namespace breakwatch::engine {

class LoopState {
 public:
  LoopState(LoopParts parts, LoopOptions options);

  // Takes every command that waits: requests are kept, reloads done, a stop noted.
  void TakeCommands();
  bool stopping() const { return stopping_; }

  // Error: the store or the lock is gone; nothing may be begun or written any more.
  Result<void> Held() const { return parts.held ? parts.held() : Result<void>(); }

  // Loads `current` when memory has none or a failed write left it ahead of the store.
  // An older program's fold, or one with damaged rows, is folded again, and stored unless nothing may be written.
  Result<void> EnsureAggregate(bool writes = true);
  Aggregate& aggregate() { return *aggregate_; }
  void ForgetAggregate() { aggregate_.reset(); }

  void Publish(bool urgent);
  void EventsStored() const {
    if (parts.events_stored) parts.events_stored();
  }
  // Waits for a capture, a command, the listing, or `until`.
  CaptureRunner::Waited Wait(SteadyTime until) { return runner_->Wait(until, wake.Fd()); }

  // Whose captures the sweep under way makes.
  CaptureRunner& runner() { return *runner_; }
  // The primary toolchain, or a further one by its name, with its interpreter where no setting names it; the runner is
  // its own from then on.
  Result<Toolchain> UseToolchain(const std::string& name, const std::string& python = {});
  // The one that ran what was imported; the runner answers with that from then on.
  Toolchain UseImport(CaptureResult imported);
  // Back to the primary one; a further one's zygotes end.
  void UsePrimary();

  LoopParts parts;
  LoopOptions options;
  WakeSet wake;
  Requests requests;
  SteadyTime published_at{};  // the newest snapshot

 private:
  void Reload(const std::string& command_id);

  std::optional<Aggregate> aggregate_;
  std::unique_ptr<CaptureRunner> import_;
  CaptureRunner* runner_;  // never null
  bool stopping_ = false;
};

}  // namespace breakwatch::engine
