// `breakwatch plan`: what a sweep would do, without doing it.
#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

class PlanTest : public CommandTest {
 protected:
  PlanTest() {
    HubLists({FakeModel("org/a", 1, Config(1)), FakeModel("org/twin", 2, Config(1)), FakeModel("org/c", 3, Config(3)),
              Excluded("org/gated", 4, Status::kSkippedGated, "request access at the Hub")});
  }
};

TEST_F(PlanTest, ListsWhatASweepWouldDoAndDoesNothing) {
  const Ran ran = Run("plan");
  EXPECT_THAT(ran, Prints("4 models: 2 capture, 1 share, 1 skip"));
  EXPECT_THAT(ran, Prints("request access at the Hub"));
  EXPECT_EQ(Captures(), 0u);
  EXPECT_TRUE(Store()->Sweeps(1)->empty());
  EXPECT_EQ(*Store()->NewestEventId(), 0);
}

TEST_F(PlanTest, PrintsTheSameAsJson) {
  const auto plan = RunJson("plan");
  ASSERT_EQ(plan["models"].size(), 4u);
  EXPECT_EQ(plan["models"][0]["action"], "capture");
  EXPECT_EQ(plan["models"][1]["action"], "share");
  EXPECT_EQ(plan["models"][3]["status"], "skipped_gated");
}

TEST_F(PlanTest, ReusesWhatIsStored) {
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_THAT(Run("plan"), Prints("4 models: 3 reuse, 1 skip"));
  EXPECT_THAT(Run("plan --rebuild always"), Prints("4 models: 2 capture, 1 share, 1 skip"));
}

TEST_F(PlanTest, IsIncompleteIfTheListingIsEmpty) {
  HubLists({});
  EXPECT_THAT(Run("plan"), Fails(kExitIncomplete, "empty"));
}

TEST_F(PlanTest, NamesAFileThatCannotBeWritten) {
  EXPECT_THAT(Run("plan --output /dev/full"), Fails(kExitStore, "cannot write /dev/full"));
  EXPECT_THAT(Run("plan --output " + (folder_ / "absent/plan.json")), Fails(kExitStore, "absent/plan.json"));
}

TEST_F(PlanTest, NamesAHubThatIsUnavailable) {
  HubFails({ErrorCode::kUnavailable, "http://hub.test: connection refused", true, {}});
  EXPECT_THAT(Run("plan"), Fails(kExitUnavailable, "http://hub.test"));
}

TEST_F(PlanTest, PlansForAnotherToolchain) {
  EXPECT_THAT(Run("plan --toolchain old"), Fails(kExitUsage, "unknown toolchain old"));
  Install("old", "2.13.0", "5.8.0");
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_THAT(Run("plan --toolchain old"), Prints("2 capture, 1 share, 1 skip"));
}

}  // namespace
}  // namespace breakwatch::commands
