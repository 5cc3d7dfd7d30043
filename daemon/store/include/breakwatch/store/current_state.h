// CurrentState: the rows that the fold of the history gives: tracked models, their numbers, fold-wide values. The
// trends of each day are written with them and read by Trends.
//
// The loop loads them at its start. Their changes are written by SweepStore, in the transaction of their cause.
// Owner, thread and errors: store.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/core/trend.h"

namespace breakwatch::store {

// What the fold changed; written in the transaction of its cause.
struct CurrentChange {
  ModelList upserts{};
  std::vector<std::string> removals{};        // models whose rows are removed
  std::map<std::string, std::string> meta{};  // fold-wide values: "published_toolchain", "filling_sweep", ...
  TrendChange trends{};
};

struct Current {
  ModelList models;  // ordered by model
  std::map<std::string, std::string> meta;
  bool damaged = false;  // rows were skipped: the history must be folded again
};

// One step of history, in order: what `store rebuild` folds again.
struct HistoryStep {
  enum class Kind { kBegun, kResult, kFinished } kind = Kind::kBegun;
  Sweep sweep;
  std::optional<Plan> plan;           // kBegun, kFinished
  std::optional<ModelResult> result;  // kResult
  std::int64_t seq = 0;               // from 1 on, without gaps unless steps were removed or are damaged
};

class CurrentState {
 public:
  virtual ~CurrentState() = default;

  virtual Result<Current> LoadCurrent() = 0;
  // Also writes `trends`; those of other days stay.
  virtual Result<void> ReplaceCurrent(const Current& current, const TrendChange& trends) = 0;
  // Calls `step` for the whole history, in order. An error of `step` ends the replay and is returned.
  virtual Result<void> ReplayHistory(const std::function<Result<void>(const HistoryStep&)>& step) = 0;
};

}  // namespace breakwatch::store
