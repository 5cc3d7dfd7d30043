// The fixture of sweeps that find models unchanged.
#pragma once

#include <array>

#include "breakwatch/core/brief_event.h"
#include "dialect.h"
#include "store_fixture.h"

namespace breakwatch::store {

inline const std::vector<std::string> kModels{"a/a", "b/b", "c/c", "d/d"};

class RepeatsTest : public StoreTest {
 protected:
  // "s1" captures the models; every later sweep finds them unchanged.
  void SetUp() override {
    StoreTest::SetUp();
    if (IsSkipped()) return;
    Begin("s1", kModels);
    for (const std::string& model : kModels) Append(SampleResult("s1", model));
    Finish("s1");
    SweepUnchanged("s2");
  }

  static Plan Unchanged(const std::string& sweep_id, const std::vector<std::string>& models = kModels) {
    Plan plan = SamplePlan(sweep_id, models);
    for (PlannedModel& planned : plan.models) {
      planned.action = Action::kReuse;
      planned.reason = "unchanged";
      planned.capture_id = "capture-s1-" + planned.info.id;
    }
    return plan;
  }
  static Event SweepEvent(const std::string& name, const std::string& sweep_id) {
    Event event = SampleEvent(name);
    event.sweep_id = sweep_id;
    return event;
  }
  void BeginUnchanged(const Plan& plan) {
    Sweep sweep = SampleSweep(plan.sweep_id);
    sweep.planned = static_cast<int>(plan.models.size());
    std::vector<Event> events{SweepEvent("sweep_started", plan.sweep_id)};
    for (const PlannedModel& planned : plan.models) events.push_back(PlannedEvent(plan.sweep_id, planned));
    ASSERT_OK(store_->BeginSweep(sweep, plan, events, {}, {}));
  }
  ModelResult Reused(const std::string& sweep_id, const std::string& model) {
    ModelResult result = SampleResult("s1", model);
    result.sweep_id = sweep_id;
    result.rebuild_reason = "unchanged";
    result.reused = true;
    auto capture = store_->LoadCapture(result.capture_id);
    EXPECT_OK(capture);
    result.capture = *std::move(capture);
    result.finished_at = FinishedAt(sweep_id);
    return result;
  }
  static SystemTime FinishedAt(const std::string& sweep_id) {
    return SystemTime{std::chrono::hours{1000 + std::stoi(sweep_id.substr(1))}};
  }
  Result<void> AppendUnchanged(const std::string& sweep_id, const std::vector<std::string>& models) {
    std::vector<ResultWrite> writes;
    for (const std::string& model : models) {
      ModelResult result = Reused(sweep_id, model);
      std::vector<Event> events{BriefEvent(result)};
      writes.push_back({std::move(result), std::move(events), {}});
    }
    return store_->AppendResults(writes);
  }
  void FinishUnchanged(const std::string& sweep_id, int models = 4) {
    Sweep sweep = FinishedSweep(sweep_id);
    sweep.planned = models;
    sweep.statuses = {{"graph_breaks", models}};
    ASSERT_OK(store_->FinishSweep(sweep, std::array{SweepEvent("sweep_finished", sweep_id)}, {}));
  }
  void SweepUnchanged(const std::string& sweep_id) {
    BeginUnchanged(Unchanged(sweep_id));
    ASSERT_OK(AppendUnchanged(sweep_id, kModels));
    FinishUnchanged(sweep_id);
  }

  std::int64_t Count(const std::string& table, const std::string& sweep_id) {
    auto dialect = MakeDialect(url_, std::chrono::seconds{10});
    soci::session sql;
    (*dialect)->Connect(sql, /*read_only=*/true);
    long long count = 0;
    sql << "SELECT COUNT(*) FROM " + table + " WHERE sweep_id = '" + sweep_id + "'", soci::into(count);
    return count;
  }
  std::vector<std::string> ModelsOf(const std::string& sweep_id) {
    std::vector<std::string> models;
    const auto results = store_->Results(sweep_id);
    EXPECT_OK(results);
    for (const ModelResult& result : *results) models.push_back(result.info.id);
    return models;
  }
  std::vector<StoredEvent> Events() { return *store_->EventsAfter(0, 1000, 1u << 30); }
};

}  // namespace breakwatch::store
