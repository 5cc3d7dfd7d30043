// SqlStore: the seams of the Store on one database session. Its methods are in one file per subject.
#pragma once

#include <memory>
#include <set>

#include "breakwatch/store/store.h"
#include "database.h"

namespace breakwatch::store {

struct ResultKey {
  std::string sweep_id, model, mode;
  std::int64_t row = 0;    // its number in `results`; 0: the row with these names
  std::int64_t at_ns = 0;  // when it ended; 0: as its row says
};

// Columns of a row of `results`.
struct RowHead {
  std::string model, mode, revision;
};

// A row of `plans`.
struct PlanRow {
  std::string sweep_id;
  std::int64_t position = 0;
};
// By place in a plan: the row of an earlier sweep with the same text; nullopt: none.
using PlanRows = std::vector<std::optional<PlanRow>>;

// The sweep that is written: where its models are in the plan, and their results in the sweep before it.
struct OpenSweep {
  std::string id;
  std::int64_t step = -1;  // the newest step when this was read or written
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::vector<bool> done;
  std::vector<std::int64_t> earlier;  // by place: the row of the sweep before; 0: none
};

// Results of a sweep at consecutive places, with consecutive numbers, that consecutive rows of `results` have.
struct ResultRun {
  std::string sweep_id;
  std::int64_t position = 0, seq = 0, row = 0, models = 0;
  std::int64_t at_ns = 0;  // when they ended; 0: as their rows say
};

// Events with consecutive ids and nanoseconds, which follow from consecutive places of a plan or of results.
struct EventRun {
  std::int64_t id = 0, events = 0, ts_ns = 0, position = 0;
  std::string sweep_id, kind;
};

// A step with the documents of its result.
struct StepRow {
  long long seq = 0;
  std::string kind, sweep_id, model, document, result_document, capture_document;
};
using UseStep = std::function<Result<void>(const HistoryStep&)>;

// Which events follow from the plan or the results of a sweep, and are stored without their lines.
struct EventPlaces {
  std::string sweep_id;
  const char* kind = kPlannedEvents;
  std::vector<std::int64_t> places;  // of each event; -1: it has its own line

  static constexpr const char* kPlannedEvents = "model_planned";
  static constexpr const char* kEndedEvents = "model_ended";
};

class SqlStore final : public Store {
 public:
  SqlStore(std::unique_ptr<Dialect> dialect, const StoreOptions& options, const Clock& clock)
      : db_(std::move(dialect), options.read_only),
        clock_(clock),
        read_only_(options.read_only),
        on_damage_(options.on_damage) {}
  Result<void> Prepare();  // connects, migrates

  // --- SweepStore
  // sweeps.cc
  Result<void> BeginSweep(const Sweep& sweep, const Plan& plan, std::span<const Event> events,
                          const CurrentChange& change, std::span<const SweepEnd> given_up) override;
  Result<void> FinishSweep(const Sweep& sweep, std::span<const Event> events, const CurrentChange& change) override;
  Result<std::vector<Sweep>> Unfinished() override;
  Result<std::vector<Sweep>> Sweeps(int limit) override;
  Result<Sweep> FindSweep(const std::string& id) override;
  Result<void> NoteFailure(SystemTime at) override;
  Result<SystemTime> LastFailure() override;

  // plans.cc
  Result<Plan> LoadPlan(const std::string& sweep_id) override;
  Result<Plan> LoadPlanHead(const std::string& sweep_id) override;
  Result<void> EachPlanned(const std::string& sweep_id, const UsePlanned& use) override;
  Result<std::set<std::string>> PlannedModels(const std::string& sweep_id) override;

  // append.cc
  Result<void> AppendResults(std::span<const ResultWrite> writes) override;
  Result<std::vector<bool>> HaveResults(const std::string& sweep_id) override;
  // results.cc
  Result<std::vector<ModelResult>> Results(const std::string& sweep_id) override;
  // each_result.cc
  Result<void> EachResult(const std::string& sweep_id, const UseResult& use) override;
  Result<void> EachCompared(const std::string& sweep_id, const KnownCapture& known, const UseCompared& use) override;
  Result<void> EachOutcome(const std::string& sweep_id, const UseResult& use) override;
  Result<std::vector<ModelResult>> NewestResults(const ResultFilter& filter) override;
  Result<std::vector<std::string>> Models() override;

  // captures.cc
  Result<std::map<std::string, CaptureHistory>> Histories(std::span<const std::string> structures,
                                                          const std::string& mode) override;
  Result<std::map<std::string, RevisionRecord>> LatestRevisions(std::span<const std::string> models) override;
  Result<CaptureResult> LoadCapture(const std::string& capture_id) override;
  Result<std::map<std::string, CaptureCost>> Costs(CostOf kind, std::span<const std::string> names,
                                                   const std::string& mode) override;

  // --- Pages: pages.cc, and SitesOf in captures.cc
  Result<std::vector<Sweep>> SweepsBefore(const std::string& before, int rows) override;
  Result<std::vector<PlacedResult>> ResultsAfter(const std::string& sweep_id, const std::string& mode,
                                                 std::int64_t place, const PageSize& size) override;
  Result<PlanPage> PlanAfter(const std::string& sweep_id, std::int64_t place, int rows) override;
  Result<std::vector<PlacedResult>> HistoryBefore(const std::string& model, std::int64_t place,
                                                  const PageSize& size) override;
  Result<std::vector<std::string>> ModelsAfter(const std::string& model, const std::string& contains,
                                               int rows) override;
  Result<std::map<std::string, std::vector<SitePlace>>> SitesOf(std::span<const std::string> captures) override;
  Result<std::vector<DeadLetter>> LettersAfter(const std::string& exporter, const std::string& after_exporter,
                                               std::int64_t after_event, const PageSize& size) override;

  // --- EventLog
  // events.cc
  Result<void> AppendEvents(std::span<const Event> events) override;
  Result<std::vector<StoredEvent>> EventsAfter(std::int64_t id, int limit, std::size_t max_bytes) override;
  Result<std::int64_t> NewestEventId() override;
  Result<std::int64_t> NewestEventBefore(SystemTime time) override;
  Result<std::int64_t> Cursor(const std::string& exporter) override;
  Result<void> SetCursor(const std::string& exporter, std::int64_t event_id) override;
  Result<int> TrimEvents(std::span<const std::string> exporters, int keep_sweeps, int limit) override;

  // dead_letters.cc
  Result<void> BuryEvents(const std::string& exporter, std::span<const Refusal> refused, std::int64_t cursor) override;
  Result<std::vector<DeadLetter>> DeadLetters(const LetterFilter& filter, int limit) override;
  Result<std::int64_t> CountDeadLetters(const std::string& exporter) override;
  Result<std::int64_t> CountQueuedLetters(const std::string& exporter) override;
  Result<std::int64_t> QueueDeadLetters(const LetterFilter& filter) override;
  Result<std::int64_t> DropDeadLetters(const LetterFilter& filter) override;
  Result<std::vector<StoredEvent>> QueuedLetters(const std::string& exporter, int limit,
                                                 std::size_t max_bytes) override;
  Result<void> RefuseQueuedLetters(const std::string& exporter, std::span<const Refusal> refused) override;
  Result<void> SetPaused(const std::string& exporter, const std::string& detail) override;
  Result<void> SetLastError(const std::string& exporter, const std::string& detail) override;
  Result<std::vector<DeliveryState>> DeliveryStates() override;

  // --- CurrentState
  // current.cc
  Result<Current> LoadCurrent() override;
  Result<void> ReplaceCurrent(const Current& current, const TrendChange& trends) override;

  // history.cc
  Result<void> ReplayHistory(const std::function<Result<void>(const HistoryStep&)>& step) override;

  // --- Trends, trends.cc
  Result<std::vector<TrendFold>> ReadTrends(const TrendFilter& filter) override;

  // --- GatewayGroups, gateway_groups.cc
  Result<std::vector<std::string>> OwnedGroups(const std::string& gateway) override;
  Result<void> SetOwnedGroups(const std::string& gateway, const std::vector<std::string>& groups) override;

  // --- ArtifactStore, artifacts.cc
  Result<std::string> AddArtifact(const ArtifactRequest& request) override;
  Result<void> RecordStage(const std::string& key, const StageRecord& record) override;
  Result<void> StageIsDue(const std::string& key, Stage stage) override;
  Result<std::vector<Artifact>> Artifacts(const std::string& model, const std::string& target, int limit) override;
  Result<Artifact> FindArtifact(const std::string& id) override;
  Result<void> RemoveArtifact(const std::string& key) override;
  Result<std::map<std::pair<std::string, std::string>, std::int64_t>> CountArtifacts() override;

  // --- Store
  // upkeep.cc
  Result<int> SchemaVersion() override;
  Result<void> StillThere() override { return db_.dialect().StillThere(); }
  Result<void> LockAsWriter() override;

  // damage.cc
  Result<std::vector<Damage>> FindDamage() override;

 private:
  // Call it inside a write transaction.
  void WriteCursor(soci::session& sql, const std::string& exporter, std::int64_t event_id);
  void WriteEvents(soci::session& sql, std::span<const Event> events, const EventPlaces& places = {});
  // event_runs.cc
  void WriteEventRun(soci::session& sql, const EventRun& run);
  EventRun RunAfter(soci::session& sql, std::int64_t id);
  EventRun RunUpTo(soci::session& sql, std::int64_t id);
  std::vector<StoredEvent> EventsOfRun(soci::session& sql, const EventRun& run, std::int64_t first, long long limit);
  std::pair<std::int64_t, std::int64_t> NewestEvent(soci::session& sql);
  std::int64_t FirstEvent(soci::session& sql, const std::string& sweep_id);
  void TrimRuns(soci::session& sql, std::int64_t last);
  void WriteChange(soci::session& sql, const CurrentChange& change);
  void WriteModels(soci::session& sql, const ModelList& models);
  void WriteTrends(soci::session& sql, const TrendChange& change);
  void WriteSites(soci::session& sql, const std::string& capture_id, const std::vector<BreakSite>& sites);
  // append.cc
  class RunWriter;
  Result<void> WriteResults(soci::session& sql, const std::string& sweep_id, std::span<const ResultWrite> writes,
                            const std::vector<std::int64_t>& rows);
  Result<void> WriteResult(soci::session& sql, const ModelResult& result, std::int64_t seq);
  Result<std::int64_t> TakePlace(soci::session& sql, const ModelResult& result, std::int64_t seq);
  void WriteRevisions(soci::session& sql, std::span<const ResultWrite> writes, std::int64_t first_seq);
  void WriteCosts(soci::session& sql, const ModelResult& result, std::int64_t seq);
  // Stores the capture of the result if it is new. Returns the capture's document.
  Result<std::string> WriteCapture(soci::session& sql, const ModelResult& result, std::int64_t seq);
  Result<void> WritePlan(soci::session& sql, const Sweep& sweep, const Plan& plan, const PlanRows& earlier);

  // repeats.cc: rows of an earlier sweep that a new one refers to. Reading them may fail: then there are none.
  std::string EarlierSweep(const Plan& plan, std::int64_t before);
  PlanRows RepeatedPlan(const Plan& plan);
  // Its capture is one that this session read, unchanged.
  bool HasStoredCapture(const ModelResult& result) const;
  std::vector<std::int64_t> RepeatedResults(std::span<const ResultWrite> writes);
  Result<void> OpenForWriting(const std::string& sweep_id);
  void ReadEarlierResults(const std::string& sweep_id, OpenSweep& open);
  // The number of the next step of the history.
  std::int64_t NextStep(soci::session& sql);
  void WriteStep(soci::session& sql, std::int64_t seq, const std::string& kind, const std::string& sweep_id,
                 const std::string& model, const std::string& mode, const std::string& document);
  Result<void> ReplayStep(const StepRow& row, std::map<std::string, Sweep>& open, const UseStep& step);
  Result<void> ReplayRun(const StepRow& row, std::map<std::string, Sweep>& open, const UseStep& step);
  Result<void> WriteEnd(soci::session& sql, const Sweep& sweep, std::span<const Event> events,
                        const CurrentChange& change);
  struct PlanPart;
  Result<PlanPart> ReadPlanPart(const std::string& id, std::int64_t after);
  Result<void> EachPlannedPastDamage(const std::string& id, std::int64_t after, const UsePlanned& use);
  // Appends a model of a plan, or reports its document as damaged.
  void DecodeOrReportPlanned(const std::string& id, const std::string& model, const std::string& document, Plan& plan);
  Result<Sweep> LatestSweep(soci::session& sql);
  Result<Sweep> LatestOfEach();

  // Runs `body` in a read transaction. False: it met a damaged page, which is reported as this row's damage. Error: any
  // other failure, so no row may be skipped.
  template <class Body>
  Result<bool> ReadPast(Damage row, const Body& body) {
    const Result<void> read = db_.Read(body);
    if (read) return true;
    if (!db_.MetDamage()) return read.error();
    row.what = read.error().message;
    Report(std::move(row));
    return false;
  }

  Result<std::int64_t> NewestStep();

  // Skips damaged rows. `rest` and `values` are as in a query.
  template <class... Values>
  std::vector<Sweep> ReadSweeps(soci::session& sql, const std::string& rest, const Values&... values);
  void ReadResult(soci::session& sql, const ResultKey& key, std::vector<ModelResult>& results);
  Result<std::vector<ResultKey>> ListRows();
  Result<std::optional<RowHead>> HeadOfRow(const ResultKey& key);
  template <class... Values>
  std::vector<PlacedResult> ReadPlaced(soci::session& sql, const std::string& query, const PageSize& size,
                                       const Values&... values);
  struct ResultPart;
  Result<ResultPart> ReadResultPart(const std::string& id, std::int64_t after, const KnownCapture& known);
  Result<ResultPart> ReadOutcomePart(const std::string& id, std::int64_t after);
  template <class ReadPart>
  Result<void> EachPart(const std::string& sweep_id, const UseCompared& use, const ReadPart& read_part);
  Result<void> EachOf(const std::vector<ResultKey>& keys, const UseCompared& use);
  Result<void> EachUnplanned(const std::string& id, const UseCompared& use);
  Result<void> EachPastDamage(const std::string& id, std::int64_t after, const UseCompared& use);
  Result<void> NameRows(std::vector<ResultKey>& keys);
  // Reads one at a time, by key.
  Result<std::vector<ModelResult>> ReadByKey(const std::vector<ResultKey>& keys);
  Result<std::vector<ResultKey>> NewestKeys(const ResultFilter& filter,
                                            const std::map<std::string, std::string>& toolchains);
  Result<std::vector<StoredEvent>> ReadEvents(std::int64_t id, int limit, std::size_t max_bytes);
  void ReplaceIfDamaged(StoredEvent& event);
  std::int64_t TimeUpTo(std::int64_t id);
  Result<std::vector<StoredEvent>> ReadEachEvent(std::int64_t after, std::int64_t last);
  Result<std::vector<DeadLetter>> ReadLetters(const LetterFilter& filter, bool only_queued, int limit,
                                              std::size_t max_bytes);
  Result<std::vector<DeadLetter>> ReadEachLetter(const LetterFilter& filter, bool only_queued, int limit,
                                                 std::size_t max_bytes);
  // 0 if the index cannot be read, which is reported.
  Result<std::int64_t> CountLetters(const std::string& rest, const std::string& exporter);
  // ORDER BY for the table "sweeps" as s: newest first.
  const char* Newest() const { return has_sequence_ ? "s.seq DESC" : "s.started_ns DESC, s.id DESC"; }
  Result<std::vector<Sweep>> ReadEachSweep(bool only_unfinished);
  void Report(Damage damage);
  // The result of a row; nullopt, and Report, if it is damaged.
  std::optional<ModelResult> DecodeOrReport(const ResultKey& key, const std::string& capture_id,
                                            const std::string& document, const std::string& capture,
                                            const CaptureResult* known = nullptr);

  Database db_;
  const Clock& clock_;
  const bool read_only_;
  const std::function<void(const Damage&)> on_damage_;
  std::set<std::string> reported_;  // damage already reported; at most kMaxDamage entries
  bool has_sequence_ = true;        // false: an older schema, opened for reading
  bool has_runs_ = true;            // the same
  OpenSweep open_;
  std::map<std::string, CaptureResult> captures_;  // the newest ones that LoadCapture read
  bool writer_ = false;                            // holds the writer lock of the database
};

// "begun", "result", "finished": the column steps.kind.
std::string StepKindName(HistoryStep::Kind kind);
// The kind of a step that stands for all results of a run of earlier rows. Its number is that of the last one.
inline constexpr char kRepeatedStep[] = "repeated";

}  // namespace breakwatch::store
