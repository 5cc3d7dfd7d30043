// Planning of a request: lists its models, then plans them from the records of the store. Writes nothing.
// Thread: the caller's; the lister runs on a thread that ListModels owns.
#pragma once

#include <functional>
#include <string>

#include "breakwatch/core/command.h"
#include "breakwatch/core/model_lister.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/progress.h"
#include "breakwatch/engine/aggregate.h"
#include "breakwatch/engine/make_plan.h"
#include "breakwatch/store/sweep_store.h"

namespace breakwatch::engine {

// "20261121T020512Z-3f9a1c": the start of a sweep and a random suffix.
std::string MakeSweepId(SystemTime now);

// Blocks until `fd` is readable or the caller has other work. Its Error ends the listing.
using ListingWait = std::function<Result<void>(int fd)>;
// For callers without a loop. Error: kInterrupted after kStop; other commands are dropped. `commands` outlives it.
ListingWait WaitForStop(CommandQueue& commands);

// The models of a request's saved plan, at their commits, or those that `lister` lists. `progress` receives the
// progress and the warnings. Error: that of the lister or of `wait`; kInternal if the thread cannot start.
Result<RankedList> ListModels(ModelLister& lister, const SweepRequest& request, ProgressListener& progress,
                              const ListingWait& wait);

// The state that a plan depends on.
struct PlanInputs {
  store::SweepStore& sweeps;
  const Aggregate& current;
  const PlanOptions& options;  // of the settings; its toolchain is the primary one
  Toolchain toolchain;         // captures this plan
  SystemTime now;
};

// Moves the models of the list into the plan: the configurations of the whole Hub are large. Error: the store's; kUsage
// if the request selects no listed model.
Result<Plan> PlanRequest(const std::string& sweep_id, const SweepRequest& request, RankedList list,
                         const PlanInputs& inputs);

}  // namespace breakwatch::engine
