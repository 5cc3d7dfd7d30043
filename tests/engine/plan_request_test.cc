#include "breakwatch/engine/plan_request.h"

#include "engine/loop_fixture.h"

namespace breakwatch::engine {
namespace {

using fakes::FakeModel;

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

}  // namespace
}  // namespace breakwatch::engine
