// Commands to the loop: a bounded queue with a descriptor to poll. The only way other threads change anything.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/event.h"
#include "breakwatch/core/model_lister.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"

namespace breakwatch {

// What a sweep is asked to do.
struct SweepRequest {
  std::string trigger = "cli";
  ListRequest list;
  Rebuild rebuild = Rebuild::kIfNeeded;
  std::string toolchain{};  // name of a further one; empty: the primary one, and after it each that is configured
  std::vector<std::string> modes{};  // of each model; empty: those of the settings
  bool track = false;
  bool resume = false;               // continue the newest unfinished sweep instead
  std::optional<Plan> saved_plan{};  // rerun this plan's models at their commits instead of listing
  // Only from this machine's user, never from the network:
  std::string python{};                     // the interpreter of `toolchain`, where no setting names it
  std::optional<CaptureResult> imported{};  // of the saved plan's one model, read from a trace: nothing is captured
};

// Error: kUsage for a model without a name or with one too long to publish, or planned twice or in no known mode.
Result<void> CheckNames(const SweepRequest& request);

struct Command {
  enum class Kind { kSweep, kReload, kStop, kStoreEvent };
  Kind kind = Kind::kSweep;
  std::string id;          // answered to the requester
  SweepRequest request{};  // of a kSweep
  Event event{};           // of a kStoreEvent: what another thread wants recorded
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
