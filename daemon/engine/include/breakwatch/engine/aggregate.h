// Aggregate: the pure fold of sweeps and results into what is published. The loop's; `store rebuild` folds
// history again with the same code and must come to equal rows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/store/store.h"

namespace breakwatch::engine {

struct AggregateOptions {
  int unranked_sweeps = 3;  // complete ranked sweeps a model stays after it left the ranking
};

class Aggregate {
 public:
  Aggregate(store::Current current, AggregateOptions options);

  // Each returns what changed, to be written with its cause.
  store::CurrentChange Begin(const Sweep& sweep, const Plan& plan);
  store::CurrentChange Apply(const ModelResult& result);
  store::CurrentChange Finish(const Sweep& sweep, const Plan& plan);

  // Null when the model has no row.
  const TrackedModel* Find(const std::string& model) const;
  store::Current ToCurrent() const;
  // Tracked models, reasons with leverage, toolchains, the sweep's summary; delivery is the caller's.
  Snapshot MakeSnapshot(SystemTime now) const;

 private:
  std::map<std::string, TrackedModel> models_;
  std::map<std::string, std::string> meta_;
  AggregateOptions options_;
};

// Folds the whole history of a store and replaces its `current`.
Result<void> RebuildCurrent(store::Store& store, AggregateOptions options);

}  // namespace breakwatch::engine
