// LoopState: what one sweep and the loop around it share. The loop's thread only.
#pragma once

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

  // Loads `current` when memory has none or a failed write left it ahead of the store.
  Result<void> EnsureAggregate();
  Aggregate& aggregate() { return *aggregate_; }
  void ForgetAggregate() { aggregate_.reset(); }

  void Publish(bool urgent);
  void EventsStored() const {
    if (parts.events_stored) parts.events_stored();
  }
  // Waits for a capture, a command, the listing, or `until`.
  CaptureRunner::Waited Wait(SteadyTime until) { return parts.runner.Wait(until, wake.Fd()); }

  LoopParts parts;
  LoopOptions options;
  WakeSet wake;
  Requests requests;
  SteadyTime published_at{};  // the newest snapshot

 private:
  void Reload();

  std::optional<Aggregate> aggregate_;
  bool stopping_ = false;
};

}  // namespace breakwatch::engine
