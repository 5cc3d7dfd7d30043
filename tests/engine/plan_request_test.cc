#include "breakwatch/engine/plan_request.h"

#include <gmock/gmock.h>

#include "engine/loop_fixture.h"

namespace breakwatch::engine {
namespace {

using fakes::FakeModel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Plans as `breakwatch plan` does, without a loop.
class PlanRequestTest : public LoopFixture {
 protected:
  Result<RankedList> List(const SweepRequest& request = {}) {
    return ListModels(lister_, request, progress_, WaitForStop(commands_));
  }
  Result<Plan> MakePlanOf(const SweepRequest& request, const Toolchain& toolchain = TestToolchain()) {
    const auto list = List(request);
    if (!list) return list.error();
    const auto current = LoadAggregate(*store_, options_.aggregate);
    if (!current) return current.error();
    return PlanRequest("sweep", request, *list,
                       {.sweeps = *store_,
                        .current = current->aggregate,
                        .options = options_.plan,
                        .toolchain = toolchain,
                        .now = clock_.Now()});
  }
};

TEST_F(PlanRequestTest, StoresAndCapturesNothing) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  const auto plan = MakePlanOf({});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->sweep_id, "sweep");
  ASSERT_EQ(plan->models.size(), 1u);
  EXPECT_EQ(plan->models[0].reason, "new model");
  EXPECT_TRUE(store_->Sweeps(10)->empty());
  EXPECT_EQ(*store_->NewestEventId(), 0);
  EXPECT_TRUE(runner_.started.empty());
}

TEST_F(PlanRequestTest, PlansWhatTheNextSweepDoes) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), FakeModel("b", 2, Config(2))}));
  ASSERT_TRUE(RunSweep().ok());
  const auto plan = MakePlanOf({});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  ASSERT_TRUE(RunSweep().ok());
  const Plan& swept = progress_.plans.back();
  ASSERT_EQ(plan->models.size(), swept.models.size());
  for (std::size_t i = 0; i < swept.models.size(); ++i) {
    EXPECT_EQ(plan->models[i].action, Action::kReuse);
    EXPECT_EQ(plan->models[i].action, swept.models[i].action);
    EXPECT_EQ(plan->models[i].reason, swept.models[i].reason);
    EXPECT_EQ(plan->models[i].capture_id, swept.models[i].capture_id);
  }
}

TEST_F(PlanRequestTest, IsPrimaryOnlyByTheToolchainOfTheSettings) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  Toolchain older = TestToolchain("2.6.0");
  older.name = "older";
  EXPECT_TRUE(MakePlanOf({})->primary);
  const auto further = MakePlanOf({}, older);
  EXPECT_FALSE(further->primary);
  EXPECT_EQ(further->toolchain.Key(), older.Key());
}

TEST_F(PlanRequestTest, TakesTheModesOfTheRequestOrOfItsSavedPlan) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  SweepRequest request;
  request.modes = {"train", "eval"};
  const auto plan = MakePlanOf(request);
  ASSERT_EQ(plan->models.size(), 2u);
  EXPECT_EQ(plan->models[0].mode, "train");
  SweepRequest again;
  again.modes = {"export"};
  again.saved_plan = *plan;
  const auto planned = MakePlanOf(again);
  ASSERT_EQ(planned->models.size(), 2u);
  EXPECT_EQ(planned->models[0].mode, "train");
  EXPECT_EQ(lister_.Requests().size(), 1u) << "a saved plan is not listed again";
}

TEST_F(PlanRequestTest, StopsAListingThatHangs) {
  lister_.HangUntilStopped();
  Stop();
  const auto list = List();
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kInterrupted);
}

TEST_F(PlanRequestTest, DropsCommandsThatOnlyALoopCanServe) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  Ask("another sweep");
  EXPECT_TRUE(List().ok());
  EXPECT_FALSE(commands_.Pop());
}

TEST_F(PlanRequestTest, WarnsOfAnEmptyListAndDoesNotRankIt) {
  lister_.Answer(ListOf({}));
  const auto list = List();
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->ranked);
  ASSERT_EQ(progress_.warnings.size(), 1u);
  EXPECT_NE(progress_.warnings[0].find("hub.author"), std::string::npos);
}

TEST_F(PlanRequestTest, ASweepIdSortsByItsStart) {
  const std::string first = MakeSweepId(clock_.Now());
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_LT(first, MakeSweepId(clock_.Now()));
}

SweepRequest Select(const std::string& filter) {
  SweepRequest request;
  request.list.select = filter;
  return request;
}

std::vector<std::string> ModelsOf(const Plan& plan) {
  std::vector<std::string> models;
  for (const PlannedModel& planned : plan.models) models.push_back(planned.info.id + " " + planned.mode);
  return models;
}

class SelectTest : public PlanRequestTest {
 protected:
  SelectTest() {
    lister_.AnswerFromNow(ListOf(
        {FakeModel("org/a", 1, Config(1)), FakeModel("org/b", 2, Config(2)), FakeModel("other/c", 3, Config(3))}));
  }
  void Override(const std::string& models, ModelOverride rule) {
    rule.models = *ModelFilter::Parse(models);
    options_.plan.rules.overrides.push_back(std::move(rule));
  }
};

TEST_F(SelectTest, PlansTheMatchingModelsAndLeavesTheTrackedSet) {
  const auto plan = MakePlanOf(Select("org/* and not org/b"));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_THAT(ModelsOf(*plan), ElementsAre("org/a eval"));
  EXPECT_FALSE(plan->ranked);
  EXPECT_TRUE(MakePlanOf({})->ranked);
}

TEST_F(SelectTest, RefusesWhatMatchesNothing) {
  const auto plan = MakePlanOf(Select("org/c"));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, ErrorCode::kUsage);
  EXPECT_THAT(plan.error().message, HasSubstr("\"org/c\" matches no model"));
  EXPECT_THAT(MakePlanOf(Select("owner:me")).error().message, HasSubstr("models.file names no owners"));
  EXPECT_THAT(MakePlanOf(Select("mode:eval")).error().message, HasSubstr("capture.modes"));
}

TEST_F(SelectTest, SelectsByWhatTheStoreKnows) {
  runner_.Script("org/b", fakes::FailedCapture(Status::kTimeout, "too slow"));
  ASSERT_TRUE(RunSweep().ok());
  EXPECT_THAT(ModelsOf(*MakePlanOf(Select("status:timeout"))), ElementsAre("org/b eval"));
}

TEST_F(SelectTest, SkipsWithTheReasonOfTheRules) {
  Override("org/*", {.skip = "too slow for now", .skip_place = "models.yaml:3:11"});
  const auto plan = MakePlanOf({});
  ASSERT_EQ(plan->models.size(), 3u);
  EXPECT_EQ(plan->models[0].action, Action::kSkip);
  EXPECT_EQ(plan->models[0].status, Status::kSkippedFiltered);
  EXPECT_EQ(plan->models[0].detail, "too slow for now (models.yaml:3:11)");
  EXPECT_EQ(plan->models[2].action, Action::kCapture);
}

TEST_F(SelectTest, GivesAModelItsOwnModes) {
  Override("org/b", {.modes = {"train", "eval"}});
  SweepRequest request;
  const auto plan = MakePlanOf(request);
  EXPECT_THAT(ModelsOf(*plan), ElementsAre("org/a eval", "org/b train", "org/b eval", "other/c eval"));
  request.saved_plan = *plan;
  options_.plan.rules = {};
  EXPECT_EQ(ModelsOf(*MakePlanOf(request)), ModelsOf(*plan)) << "a saved plan keeps the modes of each model";
}

TEST_F(SelectTest, WhatARuleChangesInACaptureIsAnotherStructure) {
  const auto before = MakePlanOf({});
  Override("org/a", {.dtype = "bfloat16"});
  Override("org/b", {.limits = {.capture = std::chrono::minutes(9)}});
  const auto after = MakePlanOf({});
  EXPECT_NE(after->models[0].structure, before->models[0].structure);
  EXPECT_EQ(after->models[0].dtype, "bfloat16");
  EXPECT_EQ(after->models[1].structure, before->models[1].structure) << "more time is no other capture";
  EXPECT_EQ(after->models[1].limits.capture, std::chrono::minutes(9));
}

TEST_F(SelectTest, InputsOfARuleComeBeforeThoseOfTheInputsFile) {
  options_.plan.inputs_specs = {{"org/a", R"({"sizes":{"seq":8}})"}};
  Override("org/a", {.inputs_json = R"({"sizes":{"seq":9}})"});
  EXPECT_EQ(MakePlanOf({})->models[0].inputs_spec_json, R"({"sizes":{"seq":9}})");
}

}  // namespace
}  // namespace breakwatch::engine
