// A sweep that was interrupted, and what continues it; saved plans.
#include <signal.h>
#include <unistd.h>

#include "breakwatch/core/json.h"
#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

class ResumeTest : public CommandTest {
 protected:
  ResumeTest() {
    HubLists({FakeModel("org/a", 1, Config(1)), FakeModel("org/b", 2, Config(2)), FakeModel("org/c", 3, Config(3))});
  }
  std::string NewestSweep() { return Store()->Sweeps(1)->at(0).id; }
};

TEST_F(ResumeTest, AnInterruptedSweepNamesTheCommandThatContinuesIt) {
  InterruptAfter(1);
  const Ran ran = Run("sweep --config.file /dev/null --metrics.extra default/cold --top 3");
  EXPECT_THAT(ran, Fails(kExitInterrupted, "breakwatch sweep --resume"));
  EXPECT_THAT(ran.err, HasSubstr("--config.file /dev/null"));
  EXPECT_THAT(ran.err, HasSubstr("--metrics.extra=default/cold"));
  EXPECT_THAT(ran.err, Not(HasSubstr("--hub.top"))) << "its plan has the models";
}

TEST_F(ResumeTest, ContinuesAnInterruptedSweepWhereItStopped) {
  InterruptAfter(1);
  ASSERT_THAT(Run("sweep"), EndsWith(kExitInterrupted));
  const std::string id = NewestSweep();
  const std::size_t before = Captures();
  EXPECT_THAT(Run("sweep --resume"), Prints("3 full_graph"));
  EXPECT_EQ(NewestSweep(), id);
  EXPECT_EQ(Workers().StartsOf("org/a"), 1) << "it ended before the interruption";
  EXPECT_GT(Captures(), before);
  EXPECT_EQ(lister_.Requests().size(), 1u);
}

TEST_F(ResumeTest, AnInterruptedListingLeavesNothingToContinue) {
  lister_.HangUntilStopped();
  Workers().on_wait = [sent = false]() mutable {
    if (!sent) sent = kill(getpid(), SIGTERM) == 0;
  };
  const Ran ran = Run("sweep");
  EXPECT_THAT(ran, EndsWith(kExitInterrupted));
  EXPECT_THAT(ran.err, Not(HasSubstr("--resume")));
}

TEST_F(ResumeTest, HasNothingToContinueAfterAFinishedSweep) {
  EXPECT_THAT(Run("sweep --resume"), Fails(kExitFailure, "nothing to resume"));
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_THAT(Run("sweep --resume"), Fails(kExitFailure, "nothing to resume"));
}

TEST_F(ResumeTest, NamesTheFlagsThatDoNotChangeAPlan) {
  const Ran ran = Run("sweep --resume --top 5 --modes train --toolchain old");
  EXPECT_THAT(ran.err, HasSubstr("ignored: --capture.modes, --hub.top, --toolchain"));
}

TEST_F(ResumeTest, ExcludesOtherSourcesOfModels) {
  EXPECT_THAT(Run("sweep --resume --model org/a"), Fails(kExitUsage, "cannot be combined"));
  EXPECT_THAT(Run("sweep --resume --plan plan.json"), Fails(kExitUsage, "cannot be combined"));
  EXPECT_THAT(Run("plan --plan plan.json --model org/a"), Fails(kExitUsage, "cannot be combined"));
}

TEST_F(ResumeTest, SweepsASavedPlanAtItsCommitsWithoutListing) {
  const std::string file = folder_ / "plan.json";
  ASSERT_THAT(Run("plan --output " + file), Succeeds());
  HubLists({FakeModel("org/a", 1, Config(9), 'f')});
  EXPECT_THAT(Run("sweep --plan " + file), Prints("3 full_graph"));
  EXPECT_EQ(lister_.Requests().size(), 1u);
  for (const CaptureJob& job : Workers().started) EXPECT_EQ(job.revision, std::string(40, 'a')) << job.model;
}

TEST_F(ResumeTest, RefusesAPlanThatIsNone) {
  EXPECT_THAT(Run("sweep --plan absent.json"), Fails(kExitUsage, "cannot read plan absent.json"));
  EXPECT_THAT(Run("sweep --plan " + folder_.path().string()), Fails(kExitUsage, "cannot read plan"));
  folder_.Write("list.json", "[1, 2]");
  EXPECT_THAT(Run("sweep --plan " + (folder_ / "list.json")), Fails(kExitUsage, "list.json is not a plan"));
  folder_.Write("empty.json", R"({"schema": 1, "models": []})");
  EXPECT_THAT(Run("sweep --plan " + (folder_ / "empty.json")), Fails(kExitUsage, "contains no model"));
  folder_.Write("near.json", R"({"schema": 1, "models": [{"model": "a/b", "mdoe": "eval"}]})");
  EXPECT_THAT(Run("sweep --plan " + (folder_ / "near.json")), Fails(kExitUsage, "did you mean \"mode\"?"));
}

TEST_F(ResumeTest, RefusesAPlanOfOwnCodeUnlessItIsAllowed) {
  Plan plan;
  plan.source = "selectors";
  plan.models.emplace_back();
  plan.models[0].info = FakeModel("python:mine:net", 0, "").info;
  plan.models[0].info.config_source = "python";
  plan.models[0].config_json = R"({"module": "mine"})";
  folder_.Write("own.json", ToJson(plan));
  EXPECT_THAT(Run("sweep --plan " + (folder_ / "own.json")), Fails(kExitUsage, "--allow-factories"));
  EXPECT_THAT(Run("sweep --allow-factories --plan " + (folder_ / "own.json")), Succeeds());
}

}  // namespace
}  // namespace breakwatch::commands
