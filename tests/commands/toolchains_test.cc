// Sweeps by further toolchains, and `breakwatch bisect`, which combines two.
#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

class ToolchainsTest : public CommandTest {
 protected:
  ToolchainsTest() {
    Install("old", "2.13.0", "5.8.0");
    HubLists({FakeModel("org/model", 1, Config(1))});
  }
};

TEST_F(ToolchainsTest, EachSweepsTheSameModels) {
  const Ran ran = Run("sweep --capture.extra_toolchains old");
  EXPECT_THAT(ran, Prints("Toolchain default torch 2.15.0"));
  EXPECT_THAT(ran, Prints("Toolchain old torch 2.13.0"));
  EXPECT_EQ(Workers("2.13.0", "5.8.0").StartsOf("org/model"), 1);
  EXPECT_EQ(lister_.Requests().size(), 1u);
}

TEST_F(ToolchainsTest, TheWorstExitCodeOfAllSweepsCounts) {
  Workers("2.13.0", "5.8.0").FailToStart({ErrorCode::kUnavailable, "no capture worker starts"});
  EXPECT_THAT(Run("sweep --capture.extra_toolchains old"), EndsWith(kExitIncomplete));
  EXPECT_EQ(Statuses().at("org/model"), "full_graph") << "the latest sweep is the primary toolchain's";
}

TEST_F(ToolchainsTest, AnUnknownOneFailsAfterTheSweepOfThePrimaryOne) {
  const Ran ran = Run("sweep --capture.extra_toolchains gone");
  EXPECT_THAT(ran, Fails(kExitUsage, "unknown toolchain gone"));
  EXPECT_THAT(ran.out, HasSubstr("1 full_graph"));
}

TEST_F(ToolchainsTest, OneAloneSweepsWithoutChangingWhatIsPublished) {
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_THAT(Run("sweep --toolchain old --rebuild always"), Succeeds());
  EXPECT_EQ(Workers("2.13.0", "5.8.0").StartsOf("org/model"), 1);
  EXPECT_THAT(metrics_->Snapshots().back().toolchain_key, HasSubstr("torch 2.15.0"));
  EXPECT_THAT(Run("sweep --toolchain gone"), Fails(kExitUsage, "unknown toolchain gone"));
}

class BisectTest : public ToolchainsTest {
 protected:
  void BreakWith(const std::string& torch, const std::string& transformers) {
    Workers(torch, transformers).Script("org/model", GoodCapture({FakeSite("one", "GB0001")}));
  }
};

TEST_F(BisectTest, FindsTheToolchainPartThatChangedTheBreaks) {
  BreakWith("2.15.0", "5.23.0");
  BreakWith("2.15.0", "5.8.0");
  ASSERT_THAT(Run("sweep"), Succeeds());
  const Ran ran = Run("bisect org/model --from old");
  EXPECT_THAT(ran, Prints("torch changed it"));
  EXPECT_THAT(ran, Prints("mixed-torch2.13.0-transformers5.23.0"));
  EXPECT_EQ(Captures(), 4u) << "the sweep's own, the old one's and the two combinations";
}

TEST_F(BisectTest, CapturesNothingThatIsStored) {
  BreakWith("2.15.0", "5.23.0");
  BreakWith("2.13.0", "5.23.0");
  const auto first = RunJson("bisect org/model --from old --quiet");
  const std::size_t captured = Captures();
  // From the Hub the configuration comes as it was written, from the store without blanks: it did not change.
  EXPECT_EQ(RunJson("bisect org/model --from old --quiet"), first);
  EXPECT_EQ(Captures(), captured);
  EXPECT_EQ(first["verdict"]["factors"], nlohmann::json{"transformers"});
  ASSERT_EQ(first["combinations"].size(), 4u);
  EXPECT_EQ(first["combinations"][3]["breaks"], 1);
  EXPECT_EQ(first["sites"][0]["reason"], "one");
}

TEST_F(BisectTest, ComparesTwoCommitsWithOneToolchain) {
  Workers().Script("org/model", GoodCapture());
  BreakWith("2.15.0", "5.23.0");
  ASSERT_THAT(Run("sweep"), Succeeds());
  HubLists({FakeModel("org/model", 1, Config(2), 'b')});
  ASSERT_THAT(Run("sweep --rebuild always"), Succeeds());
  EXPECT_THAT(Run("bisect org/model --from aaaaaaa"), Prints("the model's commit changed it"));
  EXPECT_THAT(Run("bisect model"), Prints("the model's commit changed it"))
      << "since the newest stored state that breaks differently";
}

TEST_F(BisectTest, IsIncompleteIfTooFewCombinationsCanBeCaptured) {
  BreakWith("2.15.0", "5.23.0");
  compose_error_ = Error{ErrorCode::kInternal, "different Pythons: 3.11 and 3.12"};
  const auto bisected = RunJson("bisect org/model --from old", kExitIncomplete);
  EXPECT_EQ(bisected["verdict"]["cause"], "unknown");
  EXPECT_EQ(bisected["combinations"][1]["note"], "different Pythons: 3.11 and 3.12");
}

TEST_F(BisectTest, RefusesWhatCannotBeCompared) {
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_THAT(Run("bisect org/model"), Fails(kExitUsage, "--from"));
  EXPECT_THAT(Run("bisect org/model --from default"), Fails(kExitUsage, "nothing to compare"));
  EXPECT_THAT(Run("bisect org/model --from gone"), Fails(kExitUsage, "unknown toolchain gone"));
  EXPECT_THAT(Run("bisect modle"), Fails(kExitUsage, "modle"));
  EXPECT_THAT(Run("bisect org/model --from old --format pdf"), Fails(kExitUsage, "--format"));
}

TEST_F(BisectTest, NamesAModelThatDoesNotExist) {
  HubFinds({Excluded("org/none", 0, Status::kSkippedNotFound, "not on the Hub")});
  EXPECT_THAT(Run("bisect org/none --from old"), Fails(kExitFailure, "not on the Hub"));
}

TEST_F(BisectTest, IsInterruptedByASignal) {
  InterruptAfter(1);
  EXPECT_THAT(Run("bisect org/model --from old"), EndsWith(kExitInterrupted));
}

TEST_F(BisectTest, WritesToAFile) {
  EXPECT_THAT(Run("bisect org/model --from old --format md --output " + (folder_ / "bisect.md")), Succeeds());
  EXPECT_THAT(folder_.Read("bisect.md"), HasSubstr("# org/model"));
  EXPECT_THAT(Run("bisect org/model --from old --output /dev/full"), Fails(kExitStore, "/dev/full"));
}

}  // namespace
}  // namespace breakwatch::commands
