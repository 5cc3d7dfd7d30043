// Loop: owns all changing state of a sweep and of the daemon. One thread; parallelism is the runner's processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/capture_runner.h"
#include "breakwatch/core/clock.h"
#include "breakwatch/core/command.h"
#include "breakwatch/core/model_lister.h"
#include "breakwatch/core/progress.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/engine/aggregate.h"
#include "breakwatch/engine/make_plan.h"
#include "breakwatch/store/current_state.h"
#include "breakwatch/store/event_log.h"
#include "breakwatch/store/sweep_store.h"

namespace breakwatch::engine {

struct LoopOptions {
  PlanOptions plan;  // rebuild and track come from each request
  AggregateOptions aggregate;
  CaptureLimits limits;
  std::chrono::milliseconds measure_timeout{3'600'000};  // instead of limits.capture, in measure modes
  std::chrono::seconds snapshot_interval{30};            // at most this often during a sweep, and at its end
  std::optional<std::chrono::seconds> sweep_interval;    // serve: nullopt sweeps only on request
  SweepRequest default_request;                          // of the interval and of SIGUSR1
  bool release_when_idle = false;                        // serve: ends the zygotes between sweeps
  std::vector<std::string> extra_toolchains{};           // each sweeps the same models after the primary one
  std::int64_t memory_bytes = 0;                         // of all captures together; 0: what is available
};

// A toolchain besides the primary one, with its own runner.
struct FurtherToolchain {
  Toolchain toolchain;
  CaptureRunner* runner = nullptr;  // outlives the loop
};

// Everything the loop uses; all outlive it.
struct LoopParts {
  store::SweepStore& sweeps;  // these three are of one store
  store::EventLog& event_log;
  store::CurrentState& current;
  ModelLister& lister;
  CaptureRunner& runner;
  const Clock& clock;
  ProgressListener& progress;
  CommandQueue& commands;
  // Latest wins; must not block. `urgent`: a sweep ended, the daemon started, or its next sweep has another time. May
  // be empty.
  std::function<void(SnapshotPtr snapshot, bool urgent)> publish{};
  // Takes the counts of worker processes, which the snapshots then do not have. Must not block. May be empty.
  std::function<void(const WorkersOfAll& workers)> count_workers{};
  // The numbers of artifacts, for snapshots: as store::ArtifactStore. May be empty.
  std::function<Result<std::map<std::pair<std::string, std::string>, std::int64_t>>()> count_artifacts{};
  std::function<void()> events_stored{};  // may be empty; must not block
  // A further session for a thread that folds the history again, if `current` is of an older program or damaged. May be
  // empty: Start does it.
  std::function<Result<std::unique_ptr<store::CurrentState>>()> open_current{};
  // Takes the state of the older program, which is shown until the history is folded. May be empty.
  std::function<void(SnapshotPtr snapshot)> show{};
  // kReload: the new options, or why the old ones are kept. May be empty.
  std::function<Result<LoopOptions>()> reload{};
  // May be empty: there is no further one.
  std::function<Result<FurtherToolchain>(const ToolchainRef& toolchain)> open_toolchain{};
  // Memory that captures may still take, in bytes. May be empty: unbounded.
  std::function<std::optional<std::int64_t>()> available_memory{};
  // Whether the directory of store and lock still exists; an Error ends the sweep and Serve. May be empty: always.
  std::function<Result<void>()> held{};
  int held_fd = -1;  // readable when `held` must be called; -1: only before each step
};

class Loop {
 public:
  Loop(LoopParts parts, LoopOptions options);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Loads `current` and publishes it, before any sweep. With LoopParts::open_current, Serve publishes a state that must
  // be folded again, when it is; sweeps wait for it.
  Result<void> Start();
  // Runs one sweep by one toolchain. Error kInterrupted: stopped by kStop, running captures are killed; the sweep stays
  // unfinished and can be resumed. kNotFound: nothing to resume. kStore: stored results are kept, resumable too.
  Result<Sweep> RunSweep(const SweepRequest& request);
  // The same; if the request names no toolchain, also sweeps the models by each further one.
  struct Swept {
    std::vector<Sweep> sweeps;   // those that ended, the primary toolchain's first
    std::optional<Error> error;  // the first one
  };
  Swept RunByEveryToolchain(const SweepRequest& request);
  // Sweeps at the interval and on commands until kStop, which ends it at once; first resumes an unfinished sweep.
  // Any number of ticks and equal requests during a sweep cause one more; a request for the default list also counts
  // as a tick, a request for other models gets its own sweep. The first tick comes one interval after the newest
  // sweep's start, or at once if that has passed. A failed sweep is retried with growing pauses.
  // Error: LoopParts::held's.
  Result<void> Serve();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace breakwatch::engine
