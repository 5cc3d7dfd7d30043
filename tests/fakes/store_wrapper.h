// A store that passes everything on to another: the base of stores that fail on purpose.
#pragma once

#include "breakwatch/store/store.h"

namespace breakwatch::fakes {

class StoreWrapper : public store::Store {
 public:
  explicit StoreWrapper(store::Store& inner) : inner_(inner) {}

  Result<void> BeginSweep(const Sweep& sweep, const Plan& plan, std::span<const Event> events,
                          const store::CurrentChange& change, std::span<const store::SweepEnd> given_up) override {
    return inner_.BeginSweep(sweep, plan, events, change, given_up);
  }
  Result<void> AppendResults(std::span<const store::ResultWrite> writes) override {
    return inner_.AppendResults(writes);
  }
  Result<void> FinishSweep(const Sweep& sweep, std::span<const Event> events,
                           const store::CurrentChange& change) override {
    return inner_.FinishSweep(sweep, events, change);
  }
  Result<std::vector<Sweep>> Unfinished() override { return inner_.Unfinished(); }
  Result<std::vector<Sweep>> Sweeps(int limit) override { return inner_.Sweeps(limit); }
  Result<Sweep> FindSweep(const std::string& id) override { return inner_.FindSweep(id); }
  Result<Plan> LoadPlan(const std::string& sweep_id) override { return inner_.LoadPlan(sweep_id); }
  Result<std::vector<ModelResult>> Results(const std::string& sweep_id) override { return inner_.Results(sweep_id); }
  Result<std::vector<ModelResult>> NewestResults(const store::ResultFilter& filter) override {
    return inner_.NewestResults(filter);
  }
  Result<std::vector<std::string>> Models() override { return inner_.Models(); }
  Result<std::map<std::string, store::CaptureHistory>> Histories(std::span<const std::string> structures,
                                                                 const std::string& mode) override {
    return inner_.Histories(structures, mode);
  }
  Result<std::map<std::string, store::RevisionRecord>> LatestRevisions(std::span<const std::string> models) override {
    return inner_.LatestRevisions(models);
  }
  Result<CaptureResult> LoadCapture(const std::string& capture_id) override { return inner_.LoadCapture(capture_id); }
  Result<store::Current> LoadCurrent() override { return inner_.LoadCurrent(); }
  Result<void> ReplaceCurrent(const store::Current& current) override { return inner_.ReplaceCurrent(current); }
  Result<void> ReplayHistory(const std::function<Result<void>(const store::HistoryStep&)>& step) override {
    return inner_.ReplayHistory(step);
  }
  Result<void> AppendEvents(std::span<const Event> events) override { return inner_.AppendEvents(events); }
  Result<std::vector<StoredEvent>> EventsAfter(std::int64_t id, int limit, std::size_t max_bytes) override {
    return inner_.EventsAfter(id, limit, max_bytes);
  }
  Result<std::int64_t> NewestEventId() override { return inner_.NewestEventId(); }
  Result<std::int64_t> Cursor(const std::string& exporter) override { return inner_.Cursor(exporter); }
  Result<void> SetCursor(const std::string& exporter, std::int64_t event_id) override {
    return inner_.SetCursor(exporter, event_id);
  }
  Result<std::map<std::string, store::CaptureCost>> Costs(store::CostOf kind, std::span<const std::string> names,
                                                          const std::string& mode) override {
    return inner_.Costs(kind, names, mode);
  }
  Result<int> TrimEvents(std::span<const std::string> exporters, int keep_sweeps, int limit) override {
    return inner_.TrimEvents(exporters, keep_sweeps, limit);
  }
  Result<void> BuryEvent(const std::string& exporter, const StoredEvent& event, const std::string& reason) override {
    return inner_.BuryEvent(exporter, event, reason);
  }
  Result<std::vector<store::DeadLetter>> DeadLetters(const store::LetterFilter& filter, int limit) override {
    return inner_.DeadLetters(filter, limit);
  }
  Result<std::int64_t> CountQueuedLetters(const std::string& exporter) override {
    return inner_.CountQueuedLetters(exporter);
  }
  Result<std::int64_t> QueueDeadLetters(const store::LetterFilter& filter) override {
    return inner_.QueueDeadLetters(filter);
  }
  Result<std::int64_t> DropDeadLetters(const store::LetterFilter& filter) override {
    return inner_.DropDeadLetters(filter);
  }
  Result<std::vector<StoredEvent>> QueuedLetters(const std::string& exporter, int limit,
                                                 std::size_t max_bytes) override {
    return inner_.QueuedLetters(exporter, limit, max_bytes);
  }
  Result<void> RefuseQueuedLetter(const std::string& exporter, std::int64_t event_id,
                                  const std::string& reason) override {
    return inner_.RefuseQueuedLetter(exporter, event_id, reason);
  }
  Result<void> SetPaused(const std::string& exporter, const std::string& detail) override {
    return inner_.SetPaused(exporter, detail);
  }
  Result<std::vector<store::DeliveryState>> DeliveryStates() override { return inner_.DeliveryStates(); }
  Result<std::int64_t> CountDeadLetters(const std::string& exporter) override {
    return inner_.CountDeadLetters(exporter);
  }
  Result<std::vector<std::string>> OwnedGroups(const std::string& gateway) override {
    return inner_.OwnedGroups(gateway);
  }
  Result<void> SetOwnedGroups(const std::string& gateway, const std::vector<std::string>& groups) override {
    return inner_.SetOwnedGroups(gateway, groups);
  }
  Result<int> SchemaVersion() override { return inner_.SchemaVersion(); }
  Result<std::vector<store::Damage>> FindDamage() override { return inner_.FindDamage(); }
  Result<void> StillThere() override { return inner_.StillThere(); }
  Result<void> LockAsWriter() override { return inner_.LockAsWriter(); }

 private:
  store::Store& inner_;
};

}  // namespace breakwatch::fakes
