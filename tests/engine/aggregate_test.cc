// The rules about which capture is published: one test for each rule.
#include "breakwatch/core/mode.h"
#include "engine/aggregate_fixture.h"
#include "fakes/sample_measurement.h"

namespace breakwatch::engine {
namespace {

using fakes::FailedCapture;
using fakes::FakeSite;
using fakes::GoodCapture;

// --- which mode and toolchain

Toolchain Nightly() {
  Toolchain toolchain = TestToolchain("2.17.0");
  toolchain.name = "nightly";
  return toolchain;
}

TEST_F(AggregateTest, PublishesOnlyTheMainModeOfSeveralModes) {
  Run({{"m", GoodCapture()}, {"m", GoodCapture({FakeSite("in training", "GB0001")}), kA, "t", "train"}});
  ASSERT_NE(Published("m"), nullptr);
  EXPECT_TRUE(Published("m")->reasons.empty());
  EXPECT_EQ(Row("m").status, Status::kFullGraph);
  const std::string train = NumbersKey(TestToolchain().Key(), "train");
  ASSERT_TRUE(Row("m").numbers.contains(train));
  EXPECT_EQ(Row("m").numbers.at(train).reasons.size(), 1u);
  EXPECT_EQ(Row("m").attempts.at(train), (Attempt{Status::kGraphBreaks, kA}));
  EXPECT_EQ(Shot().sweep.models, (std::map<std::string, std::int64_t>{{"full_graph", 1}}));
}

TEST_F(AggregateTest, KeepsAndReportsAModesNumbersWhenItFails) {
  const std::string train = NumbersKey(TestToolchain().Key(), "train");
  Run({{"m"}, {"m", GoodCapture(), kA, "t", "train"}});
  Run({{"m"}, {"m", FailedCapture(Status::kCrashed, "signal 11"), kA, "u", "train"}});
  EXPECT_TRUE(Row("m").numbers.contains(train));
  EXPECT_EQ(Row("m").attempts.at(train).status, Status::kCrashed);
  EXPECT_EQ(Row("m").status, Status::kFullGraph);
}

TEST_F(AggregateTest, AFurtherToolchainNeverTakesOverWhateverItsSweepCovers) {
  Run({{"m"}, {"n"}});
  const Snapshot before = Shot();
  How further;
  further.toolchain = Nightly();
  further.primary = false;
  Run({{"m", FailedCapture(Status::kCrashed, "signal 11")}, {"n", GoodCapture({FakeSite("there", "GB0001")})}},
      further);
  const Snapshot after = Shot();
  EXPECT_EQ(after.toolchain_key, TestToolchain().Key());
  EXPECT_EQ(Row("m").status, Status::kFullGraph);
  EXPECT_EQ(Row("m").attempts.at(Nightly().Key()).status, Status::kCrashed);
  EXPECT_TRUE(Row("n").numbers.contains(Nightly().Key()));
  EXPECT_EQ(after.sweep.sweep_id, before.sweep.sweep_id);
  EXPECT_EQ(after.sweep.models, before.sweep.models);
  EXPECT_EQ(Tracked(), (std::vector<std::string>{"m", "n"}));
}

TEST_F(AggregateTest, ASweepWithoutTheMainModeLeavesThePublishedToolchain) {
  Run({{"m"}});
  How newer;
  newer.toolchain = TestToolchain("2.16.0");
  Run({{"m", GoodCapture(), kA, "t", "train"}}, newer);
  EXPECT_EQ(Shot().toolchain_key, TestToolchain().Key());
  EXPECT_NE(Published("m"), nullptr);
}

// --- which capture

TEST_F(AggregateTest, PublishesTheNewestGoodCaptureAtTheCurrentCommit) {
  Run({{"m", GoodCapture({FakeSite("first", "GB0001")})}});
  Run({{"m", GoodCapture({FakeSite("second", "GB0002", 3)})}});
  ASSERT_NE(Published("m"), nullptr);
  ASSERT_EQ(Published("m")->reasons.size(), 1u);
  EXPECT_EQ(Published("m")->reasons[0], (ReasonCount{"second", "GB0002", "supportable", 3, 1}));
  EXPECT_EQ(Published("m")->commit, kA);
}

TEST_F(AggregateTest, KeepsNumbersWhenALaterCaptureOfTheSameCommitFails) {
  Run({{"m"}});
  Run({{"m", FailedCapture(Status::kTimeout, "capture took 300 s")}});
  EXPECT_NE(Published("m"), nullptr);
  EXPECT_EQ(Row("m").status, Status::kTimeout);
  EXPECT_EQ(Row("m").detail, "capture took 300 s");
}

TEST_F(AggregateTest, RemovesNumbersOfTheOldCommitAtOnceEvenIfTheNewOnesCaptureFails) {
  Run({{"m"}});
  Begin({{"m", FailedCapture(Status::kCrashed, "SIGSEGV"), kB}}, {});
  (void)Apply({"m", FailedCapture(Status::kCrashed, "SIGSEGV"), kB});
  EXPECT_EQ(Published("m"), nullptr);
  EXPECT_EQ(Row("m").commit, kB);
  EXPECT_EQ(Row("m").status_commit, kB);
}

TEST_F(AggregateTest, KeepsNumbersWhenTheCommitCouldNotBeResolved) {
  Run({{"m"}});
  Run({{"m", FailedCapture(Status::kFailedResolve, "503"), ""}});
  EXPECT_NE(Published("m"), nullptr);
  EXPECT_EQ(Row("m").commit, kA);
  EXPECT_EQ(Row("m").status_commit, "");
}

TEST_F(AggregateTest, RemovesTheOldNumbersAtANewCommitThatWasNotAttempted) {
  Run({{"m"}});
  Begin({{"m", FailedCapture(Status::kNotAttempted, "no worker"), kB}}, {});
  (void)Apply({"m", FailedCapture(Status::kNotAttempted, "no worker"), kB});
  EXPECT_EQ(Row("m").commit, kB);
  EXPECT_EQ(Published("m"), nullptr);
}

TEST_F(AggregateTest, ChangesOnlyTheStatusOfAModelThatWasNotAttempted) {
  Run({{"m"}});
  const TrackedModel before = Row("m");
  Begin({{"m", FailedCapture(Status::kNotAttempted, "no worker"), kA}}, {});
  (void)Apply({"m", FailedCapture(Status::kNotAttempted, "no worker"), kA});
  TrackedModel expected = before;
  expected.status = Status::kNotAttempted;
  expected.status_commit = kA;
  expected.detail = "no worker";
  expected.attempted_at = Row("m").attempted_at;
  expected.attempts[TestToolchain().Key()] = {Status::kNotAttempted, kA};
  EXPECT_EQ(Row("m"), expected);
}

TEST_F(AggregateTest, PublishesANewToolchainForAllModelsTogetherWhenItsFirstCompleteSweepEnds) {
  const How newer{.toolchain = TestToolchain("2.16.0")};
  const CaptureResult broken = GoodCapture({FakeSite("new break", "")});
  Run({{"m"}, {"n"}});
  Begin({{"m", broken}, {"n", broken}}, newer);
  (void)Apply({"m", broken});
  EXPECT_TRUE(Published("m")->reasons.empty());
  (void)Apply({"n", broken});
  EXPECT_TRUE(Published("n")->reasons.empty());
  Finish(newer);
  EXPECT_EQ(Shot().toolchain_key, TestToolchain("2.16.0").Key());
  EXPECT_EQ(Published("m")->reasons.size(), 1u);
  EXPECT_EQ(Published("n")->reasons.size(), 1u);
}

TEST_F(AggregateTest, KeepsTheOldToolchainAfterAnIncompleteSweepOfANewOne) {
  const How newer{.complete = false, .toolchain = TestToolchain("2.16.0")};
  Run({{"m"}});
  Run({{"m"}}, newer);
  EXPECT_EQ(Shot().toolchain_key, TestToolchain().Key());
}

TEST_F(AggregateTest, KeepsTheOldToolchainAfterANewOnesSweepOfAFewNamedModels) {
  Run({{"m"}, {"n"}});
  Run({{"m"}}, {.ranked = false, .toolchain = TestToolchain("2.16.0")});
  EXPECT_EQ(Shot().toolchain_key, TestToolchain().Key());
  Run({{"m"}, {"n"}}, {.ranked = false, .toolchain = TestToolchain("2.16.0")});
  EXPECT_EQ(Shot().toolchain_key, TestToolchain("2.16.0").Key());
}

TEST_F(AggregateTest, PublishesTheFirstToolchainFromItsFirstResult) {
  Begin({{"m"}, {"n"}}, {});
  (void)Apply({"m"});
  EXPECT_NE(Published("m"), nullptr);
}

TEST_F(AggregateTest, LeavesAnotherToolchainsNumbersWhenThisOneFails) {
  Run({{"m"}});
  Run({{"m", FailedCapture(Status::kFailedCapture, "internal error")}},
      {.complete = false, .toolchain = TestToolchain("2.16.0")});
  EXPECT_NE(Published("m"), nullptr);
}

TEST_F(AggregateTest, ForgetsTheNumbersOfLongGoneToolchainsButNeverThePublishedOnes) {
  Run({{"m"}});
  for (int i = 0; i < 20; ++i) {
    Run({{"m"}}, {.complete = false, .toolchain = TestToolchain("3.0." + std::to_string(i))});
  }
  EXPECT_EQ(Shot().toolchains.size(), 8u);
  EXPECT_EQ(Row("m").numbers.size(), 8u);
  EXPECT_NE(Published("m"), nullptr);
}

TEST_F(AggregateTest, ChangesNothingWhenTheSameCaptureIsReused) {
  Run({{"m", GoodCapture(), kA, "one"}});
  const Numbers before = *Published("m");
  Run({{"m", GoodCapture(), kA, "one"}});
  EXPECT_EQ(*Published("m"), before);
}

TEST_F(AggregateTest, MovesAReusedCaptureToTheNewCommit) {
  Run({{"m", GoodCapture(), kA, "one"}});
  Run({{"m", GoodCapture(), kB, "one"}});
  EXPECT_EQ(Published("m")->commit, kB);
}

TEST_F(AggregateTest, SumsEventsAndSitesByReasonAndId) {
  Run({{"m", GoodCapture({FakeSite("r", "GB0002", 3, "one.py"), FakeSite("r", "GB0002", 4, "two.py"),
                          FakeSite("r", "GB0001", 1), FakeSite("q", "", 1)})}});
  const std::vector<ReasonCount> expected = {
      {"q", "", "supportable", 1, 1}, {"r", "GB0001", "supportable", 1, 1}, {"r", "GB0002", "supportable", 7, 2}};
  EXPECT_EQ(Published("m")->reasons, expected);
}

TEST_F(AggregateTest, NeverShowsABrokenModelWithoutAReason) {
  CaptureResult capture = GoodCapture({FakeSite("r", "GB0001", 2)});
  capture.breaks = 5;
  Run({{"m", capture}});
  EXPECT_EQ(Published("m")->reasons.back(), (ReasonCount{"unattributed", "", "none", 3, 0}));
}

TEST_F(AggregateTest, AMeasurementIsKeptBesideTheNumbersAndIsNoSweepOfTheRanking) {
  const auto measured = [](double seconds) {
    return fakes::MeasuredCapture({{{"plain", seconds}, {"inductor", seconds / 2}}}, "profile");
  };
  const How measure{.ranked = false, .trigger = SweepTrigger::kMeasure};
  Run({{.id = "a", .capture = measured(0.5), .mode = "profile"}}, measure);
  EXPECT_EQ(Tracked(), Ids{}) << "a measurement does not fill the tracked set";

  Run({{.id = "a"}, {.id = "b"}});
  const Snapshot before = Shot();
  Run({{.id = "a", .capture = measured(0.25), .mode = "profile"}}, measure);
  const Snapshot after = Shot();
  EXPECT_EQ(after.sweep.sweep_id, before.sweep.sweep_id);
  EXPECT_EQ(after.models[0].numbers, before.models[0].numbers);
  static constexpr std::array kModes = {kProfileMode};
  const Measurement* found = after.MeasurementOf(after.models[0], kModes);
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->backends.size(), 2u);
  EXPECT_EQ(found->backends[0].latency_s.at("0.5"), 0.125);
  EXPECT_EQ(found->graphs_share, 0.75);

  Run({{.id = "a", .capture = fakes::FailedCapture(Status::kTimeout, "too slow"), .mode = "profile"}}, measure);
  EXPECT_EQ(Shot().models[0].measured, after.models[0].measured) << "a failed measurement leaves the one before";
  Run({{.id = "a", .commit = kB}, {.id = "b"}});
  EXPECT_TRUE(Shot().models[0].measured.empty()) << "it was of another commit";
}

}  // namespace
}  // namespace breakwatch::engine
