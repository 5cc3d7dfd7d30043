#include "breakwatch/core/json.h"
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

TEST_P(StoreTest, KeepsASweepAndItsPlanInOrder) {
  Plan plan = SamplePlan("s1", {"z/last", "a/first", "m/middle"});
  plan.models[1].action = Action::kSkip;
  plan.models[1].status = Status::kSkippedGated;
  plan.models[1].detail = "gated: ask for access";
  plan.track = true;
  plan.rebuild = Rebuild::kAlways;
  ASSERT_OK(store_->BeginSweep(SampleSweep("s1"), plan, {}, {}, {}));

  const auto sweep = store_->FindSweep("s1");
  ASSERT_OK(sweep);
  EXPECT_EQ(ToJson(*sweep), ToJson(SampleSweep("s1")));
  const auto loaded = store_->LoadPlan("s1");
  ASSERT_OK(loaded);
  EXPECT_EQ(ToJson(*loaded), ToJson(plan));
}

TEST_P(StoreTest, KeepsAPlanLargerThanOnePage) {
  Plan plan = SamplePlan("s1", {});
  for (int i = 0; i < 300; ++i) {
    plan.models.push_back(SamplePlanned("org/model-" + std::to_string(i)));
    plan.models.back().config_json = R"({"pad":")" + std::string(10'000, 'x') + "\"}";
  }
  ASSERT_OK(store_->BeginSweep(SampleSweep("s1"), plan, {}, {}, {}));
  const auto loaded = store_->LoadPlan("s1");
  ASSERT_OK(loaded);
  EXPECT_EQ(ToJson(*loaded), ToJson(plan));
}

TEST_P(StoreTest, GivesAPlanOneModelAtATimeOverManyPages) {
  std::vector<std::string> models;
  for (int i = 0; i < 1'100; ++i) models.push_back("org/m" + std::to_string((i * 7'919) % 1'100));
  const Plan plan = SamplePlan("s1", models);
  ASSERT_OK(store_->BeginSweep(SampleSweep("s1"), plan, {}, {}, {}));
  Plan read = *store_->LoadPlanHead("s1");
  EXPECT_TRUE(read.models.empty());
  ASSERT_OK(store_->EachPlanned("s1", [&](PlannedModel planned) -> Result<void> {
    read.models.push_back(std::move(planned));
    return {};
  }));
  EXPECT_EQ(ToJson(read), ToJson(plan));
  EXPECT_EQ(*store_->PlannedModels("s1"), std::set<std::string>(models.begin(), models.end()));
  int used = 0;
  const auto stopped = store_->EachPlanned("s1", [&](const PlannedModel&) -> Result<void> {
    return ++used, Error{ErrorCode::kStore, "no space"};
  });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().message, "no space");
  EXPECT_EQ(used, 1);
}

TEST_P(StoreTest, RejectsAPlanThatNamesAModelTwiceAndKeepsNothingOfIt) {
  const auto begun = store_->BeginSweep(SampleSweep("s1"), SamplePlan("s1", {"a/b", "a/b"}), {}, {}, {});
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(store_->FindSweep("s1").error().code, ErrorCode::kNotFound);
}

TEST_P(StoreTest, RefusesASweepThatHasBegun) {
  Begin("s1", {"a/b"});
  const auto again = store_->BeginSweep(SampleSweep("s1"), SamplePlan("s1", {}), {}, {}, {});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kInvalid);
}

TEST_P(StoreTest, FindsTheNewestUnfinishedSweep) {
  for (int i = 1; i <= 3; ++i) {
    Sweep sweep = SampleSweep("s" + std::to_string(i));
    sweep.started_at += std::chrono::seconds{i};
    ASSERT_OK(store_->BeginSweep(sweep, SamplePlan(sweep.id, {"a/b"}), {}, {}, {}));
  }
  Finish("s3");
  const auto found = store_->NewestUnfinished();
  ASSERT_OK(found);
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->id, "s2");
}

TEST_P(StoreTest, TreatsAnInterruptedSweepAsUnfinished) {
  Begin("s1", {"a/b"});
  Sweep sweep = SampleSweep("s1");
  sweep.state = SweepState::kInterrupted;
  ASSERT_OK(store_->FinishSweep(sweep, {}, {}));
  const auto found = store_->NewestUnfinished();
  ASSERT_OK(found);
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->state, SweepState::kInterrupted);
  Finish("s1");
  EXPECT_FALSE(store_->NewestUnfinished()->has_value());
}

TEST_P(StoreTest, CallsTheNewestFinishedSweepLatest) {
  Begin("s1", {"a/b"});
  EXPECT_EQ(store_->FindSweep("latest").error().code, ErrorCode::kNotFound);
  Finish("s1");
  Sweep newer = SampleSweep("s2");
  newer.started_at += std::chrono::seconds{1};
  ASSERT_OK(store_->BeginSweep(newer, SamplePlan("s2", {}), {}, {}, {}));
  EXPECT_EQ(store_->FindSweep("latest")->id, "s1");
  const auto sweeps = store_->Sweeps(10);
  ASSERT_OK(sweeps);
  ASSERT_EQ(sweeps->size(), 2u);
  EXPECT_EQ(sweeps->front().id, "s2");
  EXPECT_EQ(store_->Sweeps(1)->size(), 1u);
}

Sweep Finished(const std::string& id, int planned = 1) {
  Sweep sweep = SampleSweep(id);
  sweep.planned = planned;
  sweep.statuses = {{"full_graph", 1}};
  sweep.state = SweepState::kFinished;
  return sweep;
}

TEST_P(StoreTest, OrdersSweepsByHistoryNotByTheClock) {
  Sweep ahead = SampleSweep("s1");
  ahead.started_at += std::chrono::hours{24 * 365};
  ASSERT_OK(store_->BeginSweep(ahead, SamplePlan("s1", {"a/b"}), {}, {}, {}));
  ASSERT_OK(store_->FinishSweep(Finished("s1"), {}, {}));
  Begin("s2", {"a/b"});
  EXPECT_EQ((*store_->NewestUnfinished())->id, "s2");
  ASSERT_OK(store_->FinishSweep(Finished("s2"), {}, {}));
  EXPECT_EQ(store_->Sweeps(1)->front().id, "s2");
  EXPECT_EQ(store_->FindSweep("latest")->id, "s2");
}

TEST_P(StoreTest, LatestIsNeverAnImportABisectionOrAnEmptySweep) {
  Begin("good", {"a/b"});
  ASSERT_OK(store_->FinishSweep(Finished("good"), {}, {}));
  Plan further = SamplePlan("further", {"a/b"});
  further.primary = false;
  ASSERT_OK(store_->BeginSweep(SampleSweep("further"), further, {}, {}, {}));
  ASSERT_OK(store_->FinishSweep(Finished("further"), {}, {}));
  for (const auto& [id, planned] : {std::pair("empty", 0), {"given-up", 2}, {"bisected", 1}, {"imported", 1}}) {
    Begin(id, {"a/b"});
    Sweep sweep = Finished(id, planned);
    if (sweep.id == "bisected") sweep.trigger = SweepTrigger::kBisect;
    if (sweep.id == "imported") sweep.trigger = SweepTrigger::kTraceImport;
    ASSERT_OK(store_->FinishSweep(sweep, {}, {}));
    EXPECT_EQ(store_->FindSweep("latest")->id, "good") << id;
  }
}

TEST_P(StoreTest, EndsSweepsInTheTransactionThatBeginsTheNextOne) {
  Begin("old", {"a/b"});
  const std::vector<SweepEnd> given_up{{Finished("old"), {SampleEvent("sweep_finished")}, {}}};
  const Plan twice = SamplePlan("new", {"a/b", "a/b"});
  ASSERT_FALSE(store_->BeginSweep(SampleSweep("new"), twice, {}, {}, given_up).ok());
  EXPECT_EQ((*store_->NewestUnfinished())->id, "old") << "what could not begin discards nothing";
  EXPECT_EQ(*store_->NewestEventId(), 0);
  ASSERT_OK(store_->BeginSweep(SampleSweep("new"), SamplePlan("new", {"a/b"}), {}, {}, given_up));
  EXPECT_EQ(store_->Unfinished()->size(), 1u);
  EXPECT_EQ(store_->FindSweep("old")->state, SweepState::kFinished);
  EXPECT_OK(store_->Check());
}

TEST_P(StoreTest, FinishesASweepOnce) {
  Begin("s1", {"a/b"});
  Finish("s1");
  Sweep again = SampleSweep("s1");
  again.state = SweepState::kFinished;
  EXPECT_EQ(store_->FinishSweep(again, {}, {}).error().code, ErrorCode::kInvalid);
  again.id = "unknown";
  EXPECT_EQ(store_->FinishSweep(again, {}, {}).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace breakwatch::store
