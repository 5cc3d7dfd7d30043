// Loop: owns all changing state of a sweep and of the daemon. One thread; parallelism is the runner's processes.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include "breakwatch/core/capture_runner.h"
#include "breakwatch/core/clock.h"
#include "breakwatch/core/command.h"
#include "breakwatch/core/model_lister.h"
#include "breakwatch/core/progress.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/engine/aggregate.h"
#include "breakwatch/engine/make_plan.h"
#include "breakwatch/store/store.h"

namespace breakwatch::engine {

struct LoopOptions {
  PlanOptions plan;
  AggregateOptions aggregate;
  CaptureLimits limits;
  std::chrono::seconds snapshot_interval{30};         // at most this often during a sweep, and at its end
  std::optional<std::chrono::seconds> sweep_interval; // serve: nullopt sweeps on command only
  SweepRequest default_request;                       // of the interval and of SIGUSR1
  std::chrono::seconds drain_timeout{10};             // serve: from a stop request to return
};

// Everything the loop uses; all outlive it.
struct LoopParts {
  store::Store& store;
  ModelLister& lister;
  CaptureRunner& runner;
  const Clock& clock;
  ProgressListener& progress;
  CommandQueue& commands;
  std::function<void(SnapshotPtr)> publish;    // latest wins; must not block
  std::function<Result<LoopOptions>()> reload; // kReload: the new options, or why the old ones stay
};

class Loop {
 public:
  Loop(LoopParts parts, LoopOptions options);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Loads `current` and publishes it: healing does not wait for a sweep.
  Result<void> Start();
  // Plans without capturing or storing anything.
  Result<Plan> PlanOnly(const SweepRequest& request);
  // One sweep to its end. Error kInterrupted: stopped; the sweep stays unfinished and can be resumed.
  Result<Sweep> RunSweep(const SweepRequest& request);
  // Sweeps at the interval and on commands until kStop; first resumes an unfinished sweep. Any number of
  // ticks and commands during a sweep cause one more.
  Result<void> Serve();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace breakwatch::engine
