// Store: durable history and state. SQLite (WAL, synchronous=FULL) by default, PostgreSQL when shared; same code.
//
// Owner: each thread opens its own. Thread: the one that opened it. One writer of sweeps at a time: the
// loop, which holds the writer lock; the delivery thread writes cursors and dead letters only. Every
// method is one transaction; none spans other I/O. Formats: FORMAT.md.
// Error: kStore (the message names the file or server, and a full disk); kNotFound if a
// named thing does not exist. A database with a newer schema version is refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/event.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::store {

// A row that cannot be read. The rest of the store is read without it.
struct Damage {
  std::string table, row;  // the row's key, as text; empty: unknown
  std::string model;       // model of the row; empty: none
  std::string what;        // the cause, one line
};
// One line for the operator.
std::string Describe(const Damage& damage);

struct StoreOptions {
  std::string url;         // "sqlite:/path/to/breakwatch.db" or "postgresql://..." (libpq's form)
  bool read_only = false;  // for reading commands: never migrates; an absent database is kNotFound
  std::chrono::milliseconds lock_timeout{10'000};  // how long to wait for another writer's transaction
  std::function<void(const Damage&)> on_damage{};  // a row was skipped; once per row and session
};

// What the fold changed; written in the transaction of its cause.
struct CurrentChange {
  std::vector<TrackedModel> upserts{};
  std::vector<std::string> removals{};        // models whose rows are removed
  std::map<std::string, std::string> meta{};  // fold-wide values: "published_toolchain", "filling_sweep", ...
};

struct Current {
  std::vector<TrackedModel> models;  // ordered by model
  std::map<std::string, std::string> meta;
  bool damaged = false;  // rows were skipped: the history must be folded again
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

// The cost of the newest capture.
struct CaptureCost {
  double wall_s = 0;
  double peak_rss_mb = 0;  // MiB; 0: unknown
};
enum class CostOf { kStructure, kClass, kModelType };

// A result with its events and what the fold changed.
struct ResultWrite {
  ModelResult result;
  std::vector<Event> events;
  CurrentChange change;
};

struct RevisionRecord {  // the newest known commit of a model before this plan
  std::string commit, structure;
  Toolchain toolchain;
};

// Selects results; an empty field matches any.
struct ResultFilter {
  std::string model{}, mode{};
  std::string toolchain{};   // by name, of the sweep
  std::string revision{};    // a commit or its beginning
  bool each_commit = false;  // also the newest of each commit
};

// A sweep that ends, with its events and what the fold changed.
struct SweepEnd {
  Sweep sweep;
  std::vector<Event> events;
  CurrentChange change;
};

// Finished although models of its plan have no status: a newer listing made it stale. It does not count.
bool IsGivenUp(const Sweep& sweep);

struct DeadLetter {
  std::string exporter;
  StoredEvent event;
  std::string reason;
  SystemTime at{};
  bool queued = false;  // waits to be sent again
};

// Selects dead letters; an empty field matches any.
struct LetterFilter {
  std::string exporter{};
  std::vector<std::int64_t> ids{};  // of their events
};

// The state of delivery of one event exporter.
struct DeliveryState {
  std::string exporter{};
  std::int64_t cursor = 0;        // the last event that it is done with
  std::int64_t dead_letters = 0;  // without those queued
  std::int64_t queued = 0;
  std::string paused{};  // the answer that paused it; empty: not paused
  SystemTime paused_at{};
};

// One step of history, in order: what `store rebuild` folds again.
struct HistoryStep {
  enum class Kind { kBegun, kResult, kFinished } kind = Kind::kBegun;
  Sweep sweep;
  std::optional<Plan> plan;           // kBegun, kFinished
  std::optional<ModelResult> result;  // kResult
};

class Store {
 public:
  static Result<std::unique_ptr<Store>> Open(const StoreOptions& options, const Clock& clock);
  virtual ~Store() = default;

  // --- sweeps
  // `given_up`: unfinished sweeps that this one replaces; they end in the same transaction, before it begins.
  virtual Result<void> BeginSweep(const Sweep& sweep, const Plan& plan, std::span<const Event> events,
                                  const CurrentChange& change, std::span<const SweepEnd> given_up) = 0;
  Result<void> BeginSweep(const Sweep& sweep, const Plan& plan, std::span<const Event> events,
                          const CurrentChange& change) {
    return BeginSweep(sweep, plan, events, change, {});
  }
  // Stores a model's final result, with its capture if `capture_id` is new. A second result of the same
  // (sweep, model, mode) is kInvalid: nothing is captured twice.
  virtual Result<void> AppendResult(const ModelResult& result, std::span<const Event> events,
                                    const CurrentChange& change) = 0;
  // The same for several, in one transaction if the store can.
  virtual Result<void> AppendResults(std::span<const ResultWrite> writes);
  virtual Result<void> FinishSweep(const Sweep& sweep, std::span<const Event> events, const CurrentChange& change) = 0;
  // All of them, newest first. "Newest" is by history, not by clocks.
  virtual Result<std::vector<Sweep>> Unfinished() = 0;
  Result<std::optional<Sweep>> NewestUnfinished();
  virtual Result<std::vector<Sweep>> Sweeps(int limit) = 0;  // newest first
  // "latest": the sweep that finished last, by the primary toolchain. One that was given up or listed nothing, an
  // import, and a sweep for a bisection or by a further toolchain come after all others.
  virtual Result<Sweep> FindSweep(const std::string& id) = 0;
  virtual Result<Plan> LoadPlan(const std::string& sweep_id) = 0;
  virtual Result<std::vector<ModelResult>> Results(const std::string& sweep_id) = 0;  // in plan order
  virtual Result<std::optional<ModelResult>> LatestResult(const std::string& model) = 0;
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

  // --- the fold
  virtual Result<Current> LoadCurrent() = 0;
  virtual Result<void> ReplaceCurrent(const Current& current) = 0;
  virtual Result<void> ReplayHistory(const std::function<Result<void>(const HistoryStep&)>& step) = 0;

  // --- events
  virtual Result<void> AppendEvents(std::span<const Event> events) = 0;
  // After `id`, in order, at most `limit` and about `max_bytes` of lines (at least one).
  virtual Result<std::vector<StoredEvent>> EventsAfter(std::int64_t id, int limit, std::size_t max_bytes) = 0;
  virtual Result<std::int64_t> NewestEventId() = 0;
  virtual Result<std::int64_t> Cursor(const std::string& exporter) = 0;  // 0 before the first
  virtual Result<void> SetCursor(const std::string& exporter, std::int64_t event_id) = 0;
  // Removes the oldest events, at most `limit` of them: those before the newest `keep_sweeps` sweeps that every one of
  // `exporters` is done with. Returns their number; fewer than `limit`: none is left.
  virtual Result<int> TrimEvents(std::span<const std::string> exporters, int keep_sweeps, int limit) = 0;

  // --- dead letters
  // The dead letter and the cursor past it, in one transaction.
  virtual Result<void> BuryEvent(const std::string& exporter, const StoredEvent& event, const std::string& reason) = 0;
  // By exporter and then by event, at most `limit`.
  virtual Result<std::vector<DeadLetter>> DeadLetters(const LetterFilter& filter, int limit) = 0;
  virtual Result<std::int64_t> CountDeadLetters(const std::string& exporter) = 0;  // without those queued
  virtual Result<std::int64_t> CountQueuedLetters(const std::string& exporter) = 0;
  // Marks them to be sent again, or removes them. Returns their number.
  virtual Result<std::int64_t> QueueDeadLetters(const LetterFilter& filter) = 0;
  virtual Result<std::int64_t> DropDeadLetters(const LetterFilter& filter) = 0;
  // The queued ones in the order of their events, within the bounds of EventsAfter.
  virtual Result<std::vector<StoredEvent>> QueuedLetters(const std::string& exporter, int limit,
                                                         std::size_t max_bytes) = 0;
  // A queued letter that was refused again is dead again, unless it was dropped meanwhile.
  virtual Result<void> RefuseQueuedLetter(const std::string& exporter, std::int64_t event_id,
                                          const std::string& reason) = 0;
  // `detail`: the answer that paused the exporter; empty: it is not paused.
  virtual Result<void> SetPaused(const std::string& exporter, const std::string& detail) = 0;
  // Of every exporter in the store, by name.
  virtual Result<std::vector<DeliveryState>> DeliveryStates() = 0;

  // --- Pushgateway groups we own
  virtual Result<std::vector<std::string>> OwnedGroups(const std::string& gateway) = 0;
  virtual Result<void> SetOwnedGroups(const std::string& gateway, const std::vector<std::string>& groups) = 0;

  // --- upkeep
  virtual Result<int> SchemaVersion() = 0;
  // Reads every document and checks the database's integrity. Returns at most kMaxDamage.
  virtual Result<std::vector<Damage>> FindDamage() = 0;
  static constexpr std::size_t kMaxDamage = 1000;
  // The same, as an Error if there is any damage.
  Result<void> Check();
  // Error: kStore, the database was removed or replaced since it was opened. Thread: any.
  virtual Result<void> StillThere() { return {}; }
  // When a sweep last failed or ended incomplete; epoch: never. Not history: a sweep that fails before it has a plan
  // leaves none.
  virtual Result<void> NoteFailure(SystemTime) { return {}; }
  virtual Result<SystemTime> LastFailure() { return SystemTime{}; }
  // One writer of sweeps per database, whatever the state directory, until the session ends. Error: kStore,
  // retryable, if another session has it.
  virtual Result<void> LockAsWriter() { return {}; }
};

}  // namespace breakwatch::store
