// Sweeps that try fixes on the models that break, after these were captured.
#include <gmock/gmock.h>

#include "engine/loop_fixture.h"
#include "fakes/sample_fixes.h"

namespace breakwatch::engine {
namespace {

using fakes::FakeModel;
using testing::ElementsAre;

class FixesTest : public LoopFixture {
 protected:
  FixesTest() {
    lister_.Answer(ListOf({FakeModel("org/broken", 1, Config(1)), FakeModel("org/whole", 2, Config(2))}));
    runner_.Script("org/broken", fakes::GoodCapture({fakes::FakeSite("branching", "GB0170", 3)}));
    runner_.Script("org/broken", fakes::TriedCapture());
    request_.try_fixes = true;
  }
  std::vector<std::string> Started() {
    std::vector<std::string> names;
    for (const CaptureJob& job : runner_.started) names.push_back(job.model + " " + job.mode);
    return names;
  }
  SweepRequest request_;
};

TEST_F(FixesTest, TheModelsThatBreakAreTriedInASweepOfTheirOwn) {
  const auto swept = MakeLoop().RunByEveryToolchain(request_);
  ASSERT_FALSE(swept.error) << swept.error->message;
  ASSERT_EQ(swept.sweeps.size(), 2u);
  EXPECT_THAT(Started(), ElementsAre("org/broken eval", "org/whole eval", "org/broken fix"));
  EXPECT_EQ(runner_.started.back().fix_json, FixJson(options_.plan.fix));
  EXPECT_EQ(swept.sweeps[1].trigger, SweepTrigger::kMeasure);
  EXPECT_EQ(store_->FindSweep("latest")->id, swept.sweeps[0].id);
  EXPECT_EQ(published_.back().first->sweep.sweep_id, swept.sweeps[0].id);
  ExpectFoldEqualsHistory();
}

TEST_F(FixesTest, NothingIsTriedUnlessAsked) {
  ASSERT_EQ(MakeLoop().RunByEveryToolchain({}).sweeps.size(), 1u);
  EXPECT_EQ(runner_.StartsOf("org/broken"), 1);
}

TEST_F(FixesTest, WithoutABrokenModelNoSecondSweepBegins) {
  runner_.Rescript("org/broken", fakes::GoodCapture());
  EXPECT_EQ(MakeLoop().RunByEveryToolchain(request_).sweeps.size(), 1u);
}

TEST_F(FixesTest, AnUnchangedModelIsNotTriedAgain) {
  ASSERT_FALSE(MakeLoop().RunByEveryToolchain(request_).error);
  const std::size_t before = runner_.started.size();
  const auto again = MakeLoop().RunByEveryToolchain(request_);
  ASSERT_EQ(again.sweeps.size(), 2u);
  EXPECT_EQ(runner_.started.size(), before);
  EXPECT_TRUE(Results(again.sweeps[1].id).at(0).reused);
}

TEST_F(FixesTest, OtherOptionsAreTriedAnew) {
  ASSERT_FALSE(MakeLoop().RunByEveryToolchain(request_).error);
  const std::size_t before = runner_.started.size();
  options_.plan.fix.budget_s = 60;
  ASSERT_FALSE(MakeLoop().RunByEveryToolchain(request_).error);
  EXPECT_EQ(runner_.started.size(), before + 1);
}

TEST_F(FixesTest, TheDeadlineIsThatOfACaptureAndTheBudget) {
  options_.limits.capture = std::chrono::seconds(10);
  options_.plan.fix.budget_s = 60;
  ASSERT_FALSE(MakeLoop().RunByEveryToolchain(request_).error);
  EXPECT_EQ(runner_.started.back().limits.capture, std::chrono::seconds(70));
}

TEST_F(FixesTest, FurtherToolchainsSweepFirstAndOnlyThePrimaryOneTries) {
  options_.extra_toolchains = {"older"};
  fakes::FakeCaptureRunner older(clock_);
  Toolchain toolchain = TestToolchain("2.6.0");
  toolchain.name = "older";
  older.toolchain = toolchain;
  open_toolchain_ = [&](const ToolchainRef&) -> Result<FurtherToolchain> {
    return FurtherToolchain{toolchain, &older};
  };
  const auto swept = MakeLoop().RunByEveryToolchain(request_);
  ASSERT_EQ(swept.sweeps.size(), 3u);
  EXPECT_EQ(swept.sweeps[1].toolchain.name, "older");
  EXPECT_EQ(runner_.started.back().mode, "fix");
  EXPECT_EQ(older.started.size(), 2u);
}

}  // namespace
}  // namespace breakwatch::engine
