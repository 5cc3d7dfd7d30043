// SweepStore: the history: sweeps with their plans and results, and the captures that results share.
//
// Writer: the loop, which holds the writer lock. Readers: the loop, the commands, HTTP. Owner, thread and errors:
// store.h.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/event.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/store/current_state.h"

namespace breakwatch::store {

// A result with its events and what the fold changed.
struct ResultWrite {
  ModelResult result;
  std::vector<Event> events;
  CurrentChange change;
};

// A sweep that ends, with its events and what the fold changed.
struct SweepEnd {
  Sweep sweep;
  std::vector<Event> events;
  CurrentChange change;
};

// Finished although models of its plan have no status: a newer listing made it stale. It does not count.
bool IsGivenUp(const Sweep& sweep);

// Selects results; an empty field matches any.
struct ResultFilter {
  std::string model{}, mode{};
  std::string toolchain{};   // by name, of the sweep
  std::string revision{};    // a commit or its beginning
  bool each_commit = false;  // also the newest of each commit
};

// The history of a structure by one toolchain and mode: decides reuse, retry, quarantine.
struct CaptureHistory {
  std::optional<std::string> reusable_capture_id;  // newest with IsReusable
  Status reusable_status = Status::kNotAttempted;
  std::string last_worker;    // worker version of the newest capture
  int failures_in_a_row = 0;  // newest captures that CountsTowardsQuarantine, unbroken
  SystemTime last_failure_at{};
  Status last_status = Status::kNotAttempted;
};

struct RevisionRecord {  // the newest known commit of a model before this plan
  std::string commit, structure;
  Toolchain toolchain;
};

// The cost of the newest capture.
struct CaptureCost {
  double wall_s = 0;
  double peak_rss_mb = 0;  // MiB; 0: unknown
};
enum class CostOf { kStructure, kClass, kModelType };

using UseResult = std::function<Result<void>(ModelResult result)>;
// A capture that the caller has, by its id; null: it does not have it.
using KnownCapture = std::function<const CaptureResult*(const std::string& capture_id)>;
// `is_stored`: the result's capture is the stored one, unchanged.
using UseCompared = std::function<Result<void>(ModelResult result, bool is_stored)>;
using UsePlanned = std::function<Result<void>(PlannedModel planned)>;

class SweepStore {
 public:
  virtual ~SweepStore() = default;

  // `given_up`: unfinished sweeps that this one replaces; they end in the same transaction, before it begins.
  virtual Result<void> BeginSweep(const Sweep& sweep, const Plan& plan, std::span<const Event> events,
                                  const CurrentChange& change, std::span<const SweepEnd> given_up) = 0;
  // Stores final results of models in one transaction, each with its capture if `capture_id` is new. A second result
  // of the same (sweep, model, mode) is kInvalid: nothing is captured twice.
  virtual Result<void> AppendResults(std::span<const ResultWrite> writes) = 0;
  // By place in the plan: whether the sweep has a result there, which may be damaged, so that Results lacks it.
  virtual Result<std::vector<bool>> HaveResults(const std::string& sweep_id) = 0;
  virtual Result<void> FinishSweep(const Sweep& sweep, std::span<const Event> events, const CurrentChange& change) = 0;

  // All of them, newest first. "Newest" is by history, not by clocks.
  virtual Result<std::vector<Sweep>> Unfinished() = 0;
  Result<std::optional<Sweep>> NewestUnfinished();
  virtual Result<std::vector<Sweep>> Sweeps(int limit) = 0;  // newest first
  // "latest": the sweep that finished last, by the primary toolchain. One that was given up or listed nothing, an
  // import, and a sweep for a bisection or by a further toolchain come after all others.
  virtual Result<Sweep> FindSweep(const std::string& id) = 0;
  virtual Result<Plan> LoadPlan(const std::string& sweep_id) = 0;
  virtual Result<Plan> LoadPlanHead(const std::string& sweep_id);  // the same without its models
  // The models of a plan in its order, one at a time: no more of them are held than a page. An error of `use` ends it
  // and is returned. None for a sweep that does not exist.
  virtual Result<void> EachPlanned(const std::string& sweep_id, const UsePlanned& use);
  // The ids of the models of a plan, without their documents.
  virtual Result<std::set<std::string>> PlannedModels(const std::string& sweep_id);
  // When a sweep last failed or ended incomplete; epoch: never. Not history: a sweep that fails before it has a plan
  // leaves none.
  virtual Result<void> NoteFailure(SystemTime at) = 0;
  virtual Result<SystemTime> LastFailure() = 0;

  virtual Result<std::vector<ModelResult>> Results(const std::string& sweep_id) = 0;  // in plan order
  // The same, one at a time: no more of them are held than a page. An error of `use` ends it and is returned.
  virtual Result<void> EachResult(const std::string& sweep_id, const UseResult& use);
  // The same without reading captures again: results have copies of the known ones.
  virtual Result<void> EachCompared(const std::string& sweep_id, const KnownCapture& known, const UseCompared& use);
  // The same without documents: model, family, mode, status, capture id, and of the sites what SitePlace has.
  virtual Result<void> EachOutcome(const std::string& sweep_id, const UseResult& use);
  // The newest of each (model, mode, toolchain name), by model and then newest first.
  virtual Result<std::vector<ModelResult>> NewestResults(const ResultFilter& filter) = 0;
  // Every model that ever had a result, for selectors and suggestions.
  virtual Result<std::vector<std::string>> Models() = 0;

  // --- captures
  virtual Result<std::map<std::string, CaptureHistory>> Histories(std::span<const std::string> structures,
                                                                  const std::string& mode) = 0;
  virtual Result<std::map<std::string, RevisionRecord>> LatestRevisions(std::span<const std::string> models) = 0;
  virtual Result<CaptureResult> LoadCapture(const std::string& capture_id) = 0;
  // By name; names never captured in this mode are absent.
  virtual Result<std::map<std::string, CaptureCost>> Costs(CostOf kind, std::span<const std::string> names,
                                                           const std::string& mode) = 0;
};

}  // namespace breakwatch::store
