// Commands to the loop: a bounded queue with a descriptor to poll. The only way in which other threads change state.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/event.h"
#include "breakwatch/core/fix.h"
#include "breakwatch/core/measure.h"
#include "breakwatch/core/model_lister.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/repro.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch {

// A request for a sweep.
struct SweepRequest {
  SweepTrigger trigger = SweepTrigger::kCli;
  ListRequest list;
  Rebuild rebuild = Rebuild::kIfNeeded;
  // A further one; without a name: the primary one, then each configured extra one. `python` comes from this machine's
  // user only, never from the network.
  ToolchainRef toolchain{};
  std::vector<std::string> modes{};         // of each model; empty: the configured ones
  std::optional<MeasureOptions> measure{};  // of the measure modes; nullopt: the configured ones
  std::optional<FixOptions> fix{};          // of mode fix; nullopt: the configured ones
  std::optional<ReproOptions> repro{};      // of mode repro; nullopt: the defaults
  bool try_fixes = false;                   // afterwards, in a sweep of mode fix of the models that break
  bool track = false;
  bool resume = false;               // continue the newest unfinished sweep instead
  std::optional<Plan> saved_plan{};  // sweep this plan's models at their commits instead of listing
  // The result of the saved plan's one model, read from a trace. Only from this machine's user, never from the network.
  std::optional<CaptureResult> imported{};
};

// Error: kUsage for a wrong filter, a model without a name, with too long a name, planned twice or in an unknown mode.
Result<void> CheckNames(const SweepRequest& request);

struct Command {
  enum class Kind { kSweep, kReload, kStop, kStoreEvent, kCancel };
  Kind kind = Kind::kSweep;
  std::string id;          // answered to the requester; of a kCancel: the command to cancel
  SweepRequest request{};  // of a kSweep
  Event event{};           // of a kStoreEvent: an event of another thread
};

// Thread: Push from any; Pop and Fd on the loop. Push refuses when full.
class CommandQueue {
 public:
  explicit CommandQueue(std::size_t capacity = 64);
  ~CommandQueue();
  CommandQueue(const CommandQueue&) = delete;
  CommandQueue& operator=(const CommandQueue&) = delete;

  [[nodiscard]] bool Push(Command command);
  std::optional<Command> Pop();
  int Fd() const { return event_fd_; }  // readable while commands wait

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::deque<Command> commands_;
  int event_fd_;
};

}  // namespace breakwatch
