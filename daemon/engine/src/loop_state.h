// LoopState: state shared by a sweep and the loop. Used on the loop's thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "breakwatch/engine/loop.h"
#include "refold.h"
#include "requests.h"
#include "wake_set.h"

namespace breakwatch::engine {

class LoopState {
 public:
  LoopState(LoopParts parts, LoopOptions options);

  // Handles every waiting command: queues requests, reloads settings, records a stop.
  void TakeCommands();
  bool stopping() const { return stopping_; }
  // The request that the loop works on. A command to cancel it ends its sweep, unless something else waits for it.
  void Serve(const Request& request);
  bool cancelled() const { return cancelled_; }

  // Error: the store or the lock is lost; no more sweeps or writes are allowed.
  Result<void> Held() const { return parts.held ? parts.held() : Result<void>(); }

  // Loads `current` if it is not loaded, or if a failed write left it ahead of the store. Stores it if it had to be
  // folded again (LoadAggregate).
  Result<void> EnsureAggregate();
  // The same before a daemon serves: if it has to be folded again, that begins on a thread of its own.
  Result<void> BeginAggregate();
  bool folds() const { return refold_ != nullptr; }
  // Stores what was folded meanwhile, if it has ended.
  Result<void> EndFold();
  Aggregate& aggregate() { return *aggregate_; }
  void ForgetAggregate() { aggregate_.reset(); }

  void Publish(bool urgent);
  // A sweep failed or ended incomplete. If the store cannot keep the time, this process still publishes it.
  void NoteFailure();
  void EventsStored() const {
    if (parts.events_stored) parts.events_stored();
  }
  // Waits for a capture, a command or the listing, at most until `until`.
  CaptureRunner::Waited Wait(SteadyTime until) { return runner_->Wait(until, wake.Fd()); }

  // The runner of the current sweep.
  CaptureRunner& runner() { return *runner_; }
  // Selects the primary toolchain or a further one. The runner changes with it.
  Result<Toolchain> UseToolchain(const ToolchainRef& toolchain);
  // Selects the toolchain of an import. The runner then returns the imported result.
  Toolchain UseImport(CaptureResult imported);
  // Selects the primary toolchain again; zygotes of a further one end.
  void UsePrimary();

  LoopParts parts;
  LoopOptions options;
  WakeSet wake;
  Requests requests;
  SteadyTime published_at{};  // time of the newest snapshot
  SystemTime next_due{};      // of the next tick, for snapshots; epoch: none

 private:
  void Reload(const std::string& command_id);
  void Cancel(const std::string& command_id);
  void CountWorkers();
  Snapshot SnapshotOf(const Aggregate& aggregate);

  std::optional<Aggregate> aggregate_;
  std::unique_ptr<Refold> refold_;
  std::unique_ptr<CaptureRunner> import_;
  CaptureRunner* runner_;  // never null
  std::string further_;    // toolchain of `runner_`; empty: the primary one
  WorkersOfAll workers_;   // kept, because a further toolchain's runner may be gone
  bool stopping_ = false, cancelled_ = false;
  Request serving_;
  std::optional<SystemTime> last_failure_;                                 // empty: not yet read
  std::map<std::pair<std::string, std::string>, std::int64_t> artifacts_;  // as last counted
};

}  // namespace breakwatch::engine
