// SqlStore: the Store on one database session. Its methods are spread over files by subject.
#pragma once

#include <memory>

#include "breakwatch/store/store.h"
#include "database.h"

namespace breakwatch::store {

class SqlStore : public Store {
 public:
  SqlStore(std::unique_ptr<Dialect> dialect, bool read_only, const Clock& clock)
      : db_(std::move(dialect), read_only), clock_(clock), read_only_(read_only) {}
  Result<void> Prepare();  // connects, migrates

  // sweeps.cc
  Result<void> BeginSweep(const Sweep& sweep, const Plan& plan, std::span<const Event> events,
                          const CurrentChange& change) override;
  Result<void> FinishSweep(const Sweep& sweep, std::span<const Event> events, const CurrentChange& change) override;
  Result<std::optional<Sweep>> NewestUnfinished() override;
  Result<std::vector<Sweep>> Sweeps(int limit) override;
  Result<Sweep> FindSweep(const std::string& id) override;
  Result<Plan> LoadPlan(const std::string& sweep_id) override;

  // results.cc
  Result<void> AppendResult(const ModelResult& result, std::span<const Event> events,
                            const CurrentChange& change) override;
  Result<void> AppendResults(std::span<const ResultWrite> writes) override;
  Result<std::vector<ModelResult>> Results(const std::string& sweep_id) override;
  Result<std::optional<ModelResult>> LatestResult(const std::string& model) override;
  Result<std::vector<ModelResult>> NewestResults(const ResultFilter& filter) override;
  Result<std::vector<std::string>> Models() override;

  // captures.cc
  Result<std::map<std::string, CaptureHistory>> Histories(std::span<const std::string> structures,
                                                          const std::string& mode) override;
  Result<std::map<std::string, RevisionRecord>> LatestRevisions(std::span<const std::string> models) override;
  Result<CaptureResult> LoadCapture(const std::string& capture_id) override;
  Result<std::map<std::string, CaptureCost>> Costs(CostOf kind, std::span<const std::string> names,
                                                   const std::string& mode) override;

  // current.cc
  Result<Current> LoadCurrent() override;
  Result<void> ReplaceCurrent(const Current& current) override;

  // history.cc
  Result<void> ReplayHistory(const std::function<Result<void>(const HistoryStep&)>& step) override;

  // events.cc
  Result<void> AppendEvents(std::span<const Event> events) override;
  Result<std::vector<StoredEvent>> EventsAfter(std::int64_t id, int limit, std::size_t max_bytes) override;
  Result<std::int64_t> NewestEventId() override;
  Result<std::int64_t> Cursor(const std::string& exporter) override;
  Result<void> SetCursor(const std::string& exporter, std::int64_t event_id) override;
  Result<int> TrimEvents(std::span<const std::string> exporters, int keep_sweeps, int limit) override;
  Result<void> BuryEvent(const std::string& exporter, const StoredEvent& event, const std::string& reason) override;
  Result<std::vector<DeadLetter>> DeadLetters(const std::string& exporter, int limit) override;
  Result<std::int64_t> CountDeadLetters(const std::string& exporter) override;

  // upkeep.cc
  Result<std::vector<std::string>> OwnedGroups(const std::string& gateway) override;
  Result<void> SetOwnedGroups(const std::string& gateway, const std::vector<std::string>& groups) override;
  Result<int> SchemaVersion() override;
  Result<void> Check() override;
  Result<void> LockAsWriter() override;

 private:
  // Inside a write transaction.
  void WriteEvents(soci::session& sql, std::span<const Event> events);
  void WriteChange(soci::session& sql, const CurrentChange& change);
  void WriteModels(soci::session& sql, std::span<const TrackedModel> models);
  void WriteSites(soci::session& sql, const std::string& capture_id, const std::vector<BreakSite>& sites);
  Result<void> WriteResult(soci::session& sql, const ModelResult& result, std::span<const Event> events,
                           const CurrentChange& change);
  void WriteCosts(soci::session& sql, const ModelResult& result, std::int64_t seq);
  // The document of the result's capture, stored now when it is new.
  Result<std::string> WriteCapture(soci::session& sql, const ModelResult& result, std::int64_t seq);
  Result<void> WritePlan(soci::session& sql, const Sweep& sweep, const Plan& plan);
  // The next number of history.
  std::int64_t WriteStep(soci::session& sql, HistoryStep::Kind kind, const std::string& sweep_id,
                         const std::string& model, const std::string& mode, const std::string& document);
  Result<Plan> ReadPlan(soci::session& sql, const std::string& sweep_id);

  Database db_;
  const Clock& clock_;
  const bool read_only_;
  bool writer_ = false;  // holds the writer lock of the database
};

// "begun", "result", "finished": the column steps.kind.
std::string StepKindName(HistoryStep::Kind kind);

}  // namespace breakwatch::store
