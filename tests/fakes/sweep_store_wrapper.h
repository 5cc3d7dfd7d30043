// A sweep store that passes everything on to another: the base of stores that fail on purpose.
#pragma once

#include "breakwatch/store/sweep_store.h"

namespace breakwatch::fakes {

class SweepStoreWrapper : public store::SweepStore {
 public:
  explicit SweepStoreWrapper(store::SweepStore& inner) : inner_(inner) {}

  Result<void> BeginSweep(const Sweep& sweep, const Plan& plan, std::span<const Event> events,
                          const store::CurrentChange& change, std::span<const store::SweepEnd> given_up) override {
    return inner_.BeginSweep(sweep, plan, events, change, given_up);
  }
  Result<void> AppendResults(std::span<const store::ResultWrite> writes) override {
    return inner_.AppendResults(writes);
  }
  Result<std::vector<bool>> HaveResults(const std::string& sweep_id) override { return inner_.HaveResults(sweep_id); }
  Result<void> FinishSweep(const Sweep& sweep, std::span<const Event> events,
                           const store::CurrentChange& change) override {
    return inner_.FinishSweep(sweep, events, change);
  }
  Result<std::vector<Sweep>> Unfinished() override { return inner_.Unfinished(); }
  Result<std::vector<Sweep>> Sweeps(int limit) override { return inner_.Sweeps(limit); }
  Result<Sweep> FindSweep(const std::string& id) override { return inner_.FindSweep(id); }
  Result<Plan> LoadPlan(const std::string& sweep_id) override { return inner_.LoadPlan(sweep_id); }
  Result<Plan> LoadPlanHead(const std::string& sweep_id) override { return inner_.LoadPlanHead(sweep_id); }
  Result<void> EachPlanned(const std::string& sweep_id, const store::UsePlanned& use) override {
    return inner_.EachPlanned(sweep_id, use);
  }
  Result<std::set<std::string>> PlannedModels(const std::string& sweep_id) override {
    return inner_.PlannedModels(sweep_id);
  }
  Result<void> NoteFailure(SystemTime at) override { return inner_.NoteFailure(at); }
  Result<SystemTime> LastFailure() override { return inner_.LastFailure(); }
  Result<std::vector<ModelResult>> Results(const std::string& sweep_id) override { return inner_.Results(sweep_id); }
  Result<void> EachResult(const std::string& sweep_id, const store::UseResult& use) override {
    return inner_.EachResult(sweep_id, use);
  }
  Result<void> EachCompared(const std::string& sweep_id, const store::KnownCapture& known,
                            const store::UseCompared& use) override {
    return inner_.EachCompared(sweep_id, known, use);
  }
  Result<void> EachOutcome(const std::string& sweep_id, const store::UseResult& use) override {
    return inner_.EachOutcome(sweep_id, use);
  }
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
  Result<std::map<std::string, store::CaptureCost>> Costs(store::CostOf kind, std::span<const std::string> names,
                                                          const std::string& mode) override {
    return inner_.Costs(kind, names, mode);
  }

 private:
  store::SweepStore& inner_;
};

}  // namespace breakwatch::fakes
