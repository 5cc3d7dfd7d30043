// The rules of "which capture" and "which models", a test for each sentence.
#include "breakwatch/engine/aggregate.h"

#include <gtest/gtest.h>

#include "engine/support.h"

namespace breakwatch::engine {
namespace {

using fakes::FailedCapture;
using fakes::FakeSite;
using fakes::GoodCapture;

const std::string kA(40, 'a'), kB(40, 'b');

class AggregateTest : public ::testing::Test {
 protected:
  struct Model {
    std::string id;
    CaptureResult capture = GoodCapture();
    std::string commit = kA;
    std::string capture_id{};  // empty: one of its own
    std::string mode = "eval";
  };
  struct How {
    bool ranked = true, track = false, complete = true;
    Toolchain toolchain = TestToolchain();
    bool primary = true;
    std::string source{};
  };

  Plan PlanOf(const std::vector<Model>& models, const How& how) {
    Plan plan;
    plan.ranked = how.ranked;
    plan.track = how.track;
    plan.toolchain = how.toolchain;
    plan.primary = how.primary;
    for (const Model& model : models) {
      PlannedModel planned;
      planned.info = fakes::FakeModel(model.id, how.ranked ? static_cast<int>(plan.models.size()) + 1 : 0, "").info;
      planned.info.sha = model.commit;
      planned.mode = model.mode;
      plan.models.push_back(planned);
    }
    return plan;
  }

  void Begin(const std::vector<Model>& models, const How& how) {
    plan_ = PlanOf(models, how);
    sweep_ = {};
    sweep_.id = "sweep-" + std::to_string(++sweeps_);
    sweep_.ranked = how.ranked;
    sweep_.toolchain = how.toolchain;
    sweep_.source = how.source;
    sweep_.planned = static_cast<int>(models.size());
    sweep_.started_at = Time();
    (void)aggregate_.Begin(sweep_, plan_);
  }
  store::CurrentChange Apply(const Model& model) {
    ModelResult result;
    result.sweep_id = sweep_.id;
    for (const PlannedModel& planned : plan_.models) {
      if (planned.info.id == model.id) result.info = planned.info;
    }
    result.structure = "structure of " + model.id;
    result.capture = model.capture;
    result.capture.toolchain = plan_.toolchain;
    result.capture.mode = model.mode;
    const bool captured = model.capture.status != Status::kNotAttempted;
    result.capture_id = !captured ? "" : model.capture_id.empty() ? sweep_.id + model.id : model.capture_id;
    result.finished_at = Time();
    ++sweep_.statuses[std::string(StatusName(model.capture.status))];
    ++sweep_.modes[model.mode][std::string(StatusName(model.capture.status))];
    return aggregate_.Apply(result);
  }
  void Finish(const How& how) {
    sweep_.state = SweepState::kFinished;
    sweep_.complete = how.complete;
    sweep_.finished_at = Time();
    (void)aggregate_.Finish(sweep_, plan_);
  }
  void Run(const std::vector<Model>& models, const How& how) {
    Begin(models, how);
    for (const Model& model : models) (void)Apply(model);
    Finish(how);
  }
  void Run(const std::vector<Model>& models) { Run(models, How{}); }

  SystemTime Time() { return SystemTime{std::chrono::seconds(1'000'000 + ++seconds_)}; }
  Snapshot Shot() { return aggregate_.MakeSnapshot(SystemTime{std::chrono::seconds(9'000'000)}); }
  std::vector<std::string> Tracked() {
    std::vector<std::string> ids;
    for (const TrackedModel& model : Shot().models) ids.push_back(model.model);
    return ids;
  }
  // The published numbers, or null.
  const Numbers* Published(const std::string& model) {
    static Snapshot snapshot;
    snapshot = Shot();
    for (const TrackedModel& row : snapshot.models) {
      if (row.model == model) return snapshot.NumbersOf(row);
    }
    return nullptr;
  }
  const TrackedModel& Row(const std::string& model) { return *aggregate_.Find(model); }

  Aggregate aggregate_{{}, {}};
  Plan plan_;
  Sweep sweep_;
  int sweeps_ = 0, seconds_ = 0;
};

using Ids = std::vector<std::string>;

// --- which mode and toolchain

Toolchain Nightly() {
  Toolchain toolchain = TestToolchain("2.17.0");
  toolchain.name = "nightly";
  return toolchain;
}

TEST_F(AggregateTest, PublishesTheMainModeAloneWhateverElseTheModelIsRunIn) {
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

TEST_F(AggregateTest, KeepsAModesNumbersWhenItFailsAndTellsSo) {
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

TEST_F(AggregateTest, ForgetsAModelThatIsNotTrackedAndWasNotMetForAMonth) {
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

TEST_F(AggregateTest, TakesTheOldNumbersAwayAtANewCommitThatWasNotAttempted) {
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

// --- what is said of all together

TEST_F(AggregateTest, CountsAsLeverageModelsAllOfWhoseBreaksHaveTheReason) {
  Run({{"m", GoodCapture({FakeSite("r", "GB0059", 3)})},
       {"n", GoodCapture({FakeSite("r", "GB0059"), FakeSite("s", "")})},
       {"o", GoodCapture({FakeSite("r", "GB0059", 1, "one.py"), FakeSite("r", "GB0059", 1, "two.py")})},
       {"clean"}});
  const std::vector<ReasonInfo> reasons = Shot().reasons;
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].reason, "r");
  EXPECT_EQ(reasons[0].leverage, 2);
  EXPECT_EQ(reasons[0].fixability, "supportable");
  EXPECT_NE(reasons[0].url.find("gb0059.html"), std::string::npos);
  EXPECT_EQ(reasons[1].reason, "s");
  EXPECT_EQ(reasons[1].leverage, 0);
  EXPECT_EQ(reasons[1].url, "");
}

TEST_F(AggregateTest, SumsUpTheNewestFinishedSweepAndTheNewestCompleteOne) {
  Run({{"m"}, {"n", FailedCapture(Status::kTimeout, "slow")}});
  const SystemTime success = sweep_.finished_at;
  Run({{"m"}, {"n", FailedCapture(Status::kWorkerLost, "lost twice")}}, {.complete = false});
  const SweepSummary summary = Shot().sweep;
  EXPECT_EQ(summary.sweep_id, sweep_.id);
  EXPECT_EQ(summary.last_success, success);
  EXPECT_EQ(summary.duration, std::chrono::milliseconds(3000));
  EXPECT_EQ(summary.models, (std::map<std::string, std::int64_t>{{"full_graph", 1}, {"worker_lost", 1}}));
}

TEST_F(AggregateTest, CountsADepthMismatchOnceAndPinsItsClass) {
  CaptureResult capture = GoodCapture({FakeSite("deep", "")});
  capture.depth_mismatch = true;
  Run({{"m", capture}});
  EXPECT_EQ(Shot().sweep.depth_mismatches, 1);
  EXPECT_EQ(aggregate_.PinnedArchitectures(), (std::set<std::string>{"FakeModel"}));
}

TEST_F(AggregateTest, CountsNothingOfASweepThatWasGivenUp) {
  Run({{"m"}});
  const std::string newest = Shot().sweep.sweep_id;
  Begin({{"m"}, {"n"}}, {});
  (void)Apply({"m"});
  sweep_.complete = false;
  Finish({.complete = false});
  EXPECT_EQ(Shot().sweep.sweep_id, newest);
  EXPECT_EQ(Tracked(), (Ids{"m"}));
}

// --- the rows

TEST_F(AggregateTest, ReturnsExactlyTheRowsAndValuesItChanged) {
  Run({{"m"}, {"n"}});
  Begin({{"m", FailedCapture(Status::kCrashed, "SIGABRT")}}, {.ranked = false});
  const store::CurrentChange change = Apply({"m", FailedCapture(Status::kCrashed, "SIGABRT")});
  ASSERT_EQ(change.upserts.size(), 1u);
  EXPECT_EQ(change.upserts[0], Row("m"));
  EXPECT_TRUE(change.meta.empty());
}

TEST_F(AggregateTest, GoesOnFromItsRowsAsIfItHadNeverEnded) {
  Run({{"m"}, {"n", GoodCapture({FakeSite("r", "GB0001")})}});
  Begin({{"n"}, {"o"}}, {});
  (void)Apply({"o"});
  aggregate_ = Aggregate(aggregate_.ToCurrent(), {});
  (void)Apply({"n"});
  Finish({});
  EXPECT_EQ(Tracked(), (Ids{"m", "n", "o"}));
  EXPECT_FALSE(Row("m").in_ranking);
}

TEST_F(AggregateTest, SumOfItsChangesEqualsItsRows) {
  store::Current kept;
  std::map<std::string, TrackedModel> rows;
  const auto keep = [&](const store::CurrentChange& change) {
    for (const TrackedModel& row : change.upserts) rows[row.model] = row;
    for (const auto& [key, value] : change.meta) kept.meta[key] = value;
  };
  for (int i = 0; i < 6; ++i) {
    const How how{.ranked = i % 3 != 2, .track = i == 5, .toolchain = TestToolchain(i < 3 ? "2.15.0" : "2.16.0")};
    const std::vector<Model> models = {{"m" + std::to_string(i % 2)}, {"n" + std::to_string(i)}};
    plan_ = PlanOf(models, how);
    sweep_ = {};
    sweep_.id = "s" + std::to_string(i);
    sweep_.ranked = how.ranked;
    sweep_.toolchain = how.toolchain;
    keep(aggregate_.Begin(sweep_, plan_));
    for (const Model& model : models) keep(Apply(model));
    sweep_.state = SweepState::kFinished;
    sweep_.complete = true;
    keep(aggregate_.Finish(sweep_, plan_));
  }
  const store::Current current = aggregate_.ToCurrent();
  ASSERT_EQ(current.models.size(), rows.size());
  for (const TrackedModel& row : current.models) EXPECT_EQ(rows[row.model], row);
  EXPECT_EQ(kept.meta, current.meta);
}

// --- imports

class ImportTest : public AggregateTest {
 protected:
  static How Import(bool track) {
    Toolchain toolchain = TestToolchain("2.14.0");
    toolchain.name = kImport;
    return {.ranked = false, .track = track, .toolchain = toolchain, .source = "import /tmp/trace"};
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

TEST_F(ImportTest, StandsBesideTheNumbersOfOurOwnCaptureAtTheSameCommit) {
  Run({{"a"}});
  Run({Imported("a")}, Import(/*track=*/true));
  EXPECT_EQ(Shot().toolchain_key, TestToolchain().Key());
  EXPECT_EQ(Row("a").numbers.size(), 2u);
  EXPECT_TRUE(Row("a").numbers.contains(NumbersKey(Import(true).toolchain.Key(), kImport)));
  EXPECT_FALSE(Row("a").imported);
}

TEST_F(ImportTest, OfAnotherCommitTakesNoNumbersAway) {
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
  EXPECT_EQ(Published("a"), nullptr);  // the published series are our own captures'
  Run({{"b"}}, {.ranked = false});
  EXPECT_EQ(Tracked(), (Ids{"a", "b"}));
  EXPECT_NE(Published("b"), nullptr);
  Run({{"a"}}, {.ranked = false});
  EXPECT_FALSE(Row("a").imported);
  EXPECT_NE(Published("a"), nullptr);
}

TEST_F(ImportTest, IsNoSweepOfTheSchedule) {
  Run({{"a"}});
  const auto success = Shot().sweep.last_success;
  Run({Imported("a")}, Import(/*track=*/true));
  EXPECT_EQ(Shot().sweep.last_success, success);
  EXPECT_EQ(Shot().sweep.sweep_id, "sweep-1");
}

}  // namespace
}  // namespace breakwatch::engine
