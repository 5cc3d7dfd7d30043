// CaptureRunner: the interface to the capturing processes. Three questions and a stop.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/worker_counts.h"

namespace breakwatch {

// The sandbox of captures, for reports.
struct SandboxState {
  std::string used;     // "bubblewrap", "landlock", "none", "launcher" (the user's own); empty: unknown
  std::string warning;  // for the operator, once a sweep; empty: no warning
};

// Owner: the loop. Thread: the loop's only.
class CaptureRunner {
 public:
  // Why Wait returned. A closed set: the caller deals with each.
  struct Waited {
    std::optional<CaptureResult> finished;  // a capture ended
    bool woken = false;                     // `wake_fd` became readable
    // neither: `until` passed, or Waiting() changed
  };

  virtual ~CaptureRunner() = default;
  // How many more captures may start now.
  virtual std::size_t Capacity() const = 0;
  // Starts one. Error: no zygote can be started (kUnavailable); the job was not attempted.
  virtual Result<void> Start(const CaptureJob& job) = 0;
  // Blocks until a capture ends, Waiting() changes, `wake_fd` (or -1) is readable, or `until`. Works with nothing
  // running.
  virtual Waited Wait(SteadyTime until, int wake_fd) = 0;
  // Kills all captures and zygotes and reaps them; returns the ids of the running jobs.
  virtual std::vector<std::string> StopAll() = 0;
  // Why a started capture does not run yet: another process measures on this machine; empty: it runs.
  virtual std::string Waiting() const { return {}; }
  virtual SandboxState Sandbox() const { return {}; }
  // nullopt: it has no worker processes.
  virtual std::optional<WorkerCounts> Workers() const { return std::nullopt; }
};

}  // namespace breakwatch
