// The rules about which models are tracked, and the effect of imports on them: one test for each rule.
#include "engine/aggregate_fixture.h"

namespace breakwatch::engine {
namespace {

using fakes::FailedCapture;
using fakes::FakeSite;
using fakes::GoodCapture;

// --- which models

TEST_F(AggregateTest, FillsAnEmptySetByTheFirstSweepAsItsResultsArrive) {
  Begin({{"m"}, {"n"}}, {.ranked = false});
  EXPECT_EQ(Tracked(), Ids{});
  (void)Apply({"n"});
  EXPECT_EQ(Tracked(), (Ids{"n"}));
  (void)Apply({"m"});
  EXPECT_EQ(Tracked(), (Ids{"m", "n"}));
}

TEST_F(AggregateTest, RefreshesMembersOnlyByOtherSweeps) {
  Run({{"m"}});
  Run({{"m", GoodCapture({FakeSite("r", "")})}, {"stranger"}}, {.ranked = false});
  EXPECT_EQ(Tracked(), (Ids{"m"}));
  EXPECT_EQ(Published("m")->reasons.size(), 1u);
  EXPECT_EQ(Row("m").rank, 1);
  EXPECT_TRUE(Row("m").in_ranking);
  ASSERT_NE(aggregate_.Find("stranger"), nullptr);
}

TEST_F(AggregateTest, ReplacesTheTrackedSetByTheNewestCompleteRankedPlan) {
  Run({{"m"}, {"n"}});
  Begin({{"n"}, {"o"}}, {});
  (void)Apply({"n"});
  (void)Apply({"o"});
  EXPECT_EQ(Tracked(), (Ids{"m", "n"}));
  Finish({});
  EXPECT_EQ(Tracked(), (Ids{"m", "n", "o"}));
  EXPECT_FALSE(Row("m").in_ranking);
  EXPECT_TRUE(Row("o").in_ranking);
  EXPECT_EQ(Row("n").rank, 1);
  EXPECT_EQ(Row("o").rank, 2);
}

TEST_F(AggregateTest, DoesNotReplaceTheTrackedSetByAnIncompleteSweep) {
  Run({{"m"}});
  Run({{"n"}}, {.complete = false});
  EXPECT_EQ(Tracked(), (Ids{"m"}));
}

TEST_F(AggregateTest, KeepsAModelThatLeftTheRankingForThreeSweeps) {
  Run({{"m"}, {"n"}});
  for (int i = 1; i <= 3; ++i) {
    Run({{"n"}});
    EXPECT_EQ(Tracked(), (Ids{"m", "n"})) << i;
    EXPECT_FALSE(Row("m").in_ranking);
  }
  Run({{"n"}});
  EXPECT_EQ(Tracked(), (Ids{"n"}));
}

TEST_F(AggregateTest, CountsOnlyCompleteRankedSweepsOfAbsence) {
  Run({{"m"}, {"n"}});
  for (int i = 0; i < 9; ++i) {
    Run({{"n"}}, {.complete = false});
    Run({{"n"}}, {.ranked = false});
  }
  EXPECT_EQ(Tracked(), (Ids{"m", "n"}));
}

TEST_F(AggregateTest, ForgetsAbsenceWhenAModelReturns) {
  Run({{"m"}, {"n"}});
  Run({{"n"}});
  Run({{"n"}, {"m"}});
  EXPECT_TRUE(Row("m").in_ranking);
  EXPECT_EQ(Row("m").sweeps_unranked, 0);
}

TEST_F(AggregateTest, KeepsModelsAddedWithTrackForEver) {
  Run({{"n"}});
  Run({{"mine"}}, {.ranked = false, .track = true});
  for (int i = 0; i < 9; ++i) Run({{"n"}});
  EXPECT_EQ(Tracked(), (Ids{"mine", "n"}));
  EXPECT_TRUE(Row("mine").pinned);
  EXPECT_FALSE(Row("mine").in_ranking);
}

TEST_F(AggregateTest, TracksAnAddedModelFromTheSweepsBegin) {
  Run({{"n"}});
  Begin({{"mine"}}, {.ranked = false, .track = true});
  EXPECT_EQ(Tracked(), (Ids{"mine", "n"}));
  EXPECT_FALSE(Row("mine").detail.empty());
}

TEST_F(AggregateTest, DoesNotTrackANameThatDoesNotExist) {
  Run({{"mistyped", FailedCapture(Status::kSkippedNotFound, "no such model"), ""}}, {.ranked = false});
  EXPECT_EQ(Tracked(), Ids{});
}

TEST_F(AggregateTest, DropsModelsThatOnlyFilledTheEmptySetWhenARankingComes) {
  Run({{"named"}}, {.ranked = false});
  Run({{"m"}});
  EXPECT_EQ(Tracked(), (Ids{"m"}));
}

TEST_F(AggregateTest, TracksARankedModelWithoutNumbers) {
  Run({{"m", FailedCapture(Status::kSkippedGated, "asks for an agreement")}});
  EXPECT_EQ(Tracked(), (Ids{"m"}));
  EXPECT_EQ(Published("m"), nullptr);
}

TEST_F(AggregateTest, ForgetsAModelThatIsNotTrackedAndWasNotListedForAMonth) {
  Run({{"m"}});
  How by_name;
  by_name.ranked = false;
  Run({{"stranger"}}, by_name);
  Run({{"m"}});
  EXPECT_NE(aggregate_.Find("stranger"), nullptr);
  seconds_ += 31 * 24 * 3600;
  Begin({{"m"}}, How{});
  (void)Apply({"m"});
  sweep_.state = SweepState::kFinished;
  sweep_.complete = true;
  sweep_.finished_at = Time();
  EXPECT_EQ(aggregate_.Finish(sweep_, plan_).removals, (std::vector<std::string>{"stranger"}));
  EXPECT_EQ(aggregate_.Find("stranger"), nullptr);
}

// --- imports

class ImportTest : public AggregateTest {
 protected:
  static How Import(bool track) {
    Toolchain toolchain = TestToolchain("2.14.0");
    toolchain.name = kImport;
    return {.ranked = false, .track = track, .toolchain = toolchain, .trigger = SweepTrigger::kTraceImport};
  }
  static Model Imported(const std::string& id, const std::string& commit = kA) {
    return {.id = id, .commit = commit, .mode = kImport};
  }
};

TEST_F(ImportTest, ChangesNothingThatIsPublished) {
  Run({{"a"}});
  const store::Current before = aggregate_.ToCurrent();
  Run({Imported("a", kB), Imported("b")}, Import(/*track=*/false));
  EXPECT_EQ(aggregate_.ToCurrent().models, before.models);
  EXPECT_EQ(aggregate_.ToCurrent().meta, before.meta);
}

TEST_F(ImportTest, DoesNotFillAnEmptyTrackedSet) {
  Run({Imported("a")}, Import(/*track=*/false));
  EXPECT_EQ(Tracked(), Ids{});
  Run({{"b"}}, {.ranked = false});
  EXPECT_EQ(Tracked(), Ids{"b"});
}

TEST_F(ImportTest, IsPublishedBesideTheCaptureAtTheSameCommit) {
  Run({{"a"}});
  Run({Imported("a")}, Import(/*track=*/true));
  EXPECT_EQ(Shot().toolchain_key, TestToolchain().Key());
  EXPECT_EQ(Row("a").numbers.size(), 2u);
  EXPECT_TRUE(Row("a").numbers.contains(NumbersKey(Import(true).toolchain.Key(), kImport)));
  EXPECT_FALSE(Row("a").imported);
}

TEST_F(ImportTest, OfAnotherCommitRemovesNoNumbers) {
  Run({{"a"}});
  Run({Imported("a", kB)}, Import(/*track=*/true));
  EXPECT_EQ(Row("a").commit, kA);
  ASSERT_NE(Published("a"), nullptr);
}

TEST_F(ImportTest, TracksAModelThatWasNeverSweptUntilASweepTakesItOver) {
  Run({Imported("a")}, Import(/*track=*/true));
  EXPECT_EQ(Tracked(), Ids{"a"});
  EXPECT_TRUE(Row("a").imported);
  EXPECT_EQ(Row("a").commit, kA);
  EXPECT_EQ(Row("a").status, Row("a").attempts.begin()->second.status) << "of the last attempt, which is the import";
  EXPECT_NE(Row("a").status, Status::kNotAttempted);
  EXPECT_NE(Row("a").detail, "added, no result yet");
  EXPECT_EQ(Published("a"), nullptr);  // the published series are those of our own captures
  Run({{"b"}}, {.ranked = false});
  EXPECT_EQ(Tracked(), (Ids{"a", "b"}));
  EXPECT_NE(Published("b"), nullptr);
  Run({{"a"}}, {.ranked = false});
  EXPECT_FALSE(Row("a").imported);
  EXPECT_NE(Published("a"), nullptr);
}

TEST_F(ImportTest, IsNotAScheduledSweep) {
  Run({{"a"}});
  const auto success = Shot().sweep.last_success;
  Run({Imported("a")}, Import(/*track=*/true));
  EXPECT_EQ(Shot().sweep.last_success, success);
  EXPECT_EQ(Shot().sweep.sweep_id, "sweep-1");
}

}  // namespace
}  // namespace breakwatch::engine
