// The totals over all models, and the rows that a step of the fold writes.
#include "engine/aggregate_fixture.h"

namespace breakwatch::engine {
namespace {

using fakes::FailedCapture;
using fakes::FakeSite;
using fakes::GoodCapture;

// --- totals over all models

TEST_F(AggregateTest, CountsAsLeverageModelsAllOfWhoseBreaksHaveTheReason) {
  Run({{"m", GoodCapture({FakeSite("r", "GB0059", 3)})},
       {"n", GoodCapture({FakeSite("r", "GB0059"), FakeSite("s", "")})},
       {"o", GoodCapture({FakeSite("r", "GB0059", 1, "one.py"), FakeSite("r", "GB0059", 1, "two.py")})},
       {"clean"}});
  const std::vector<ReasonInfo> reasons = Shot().reasons;
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].reason, "r");
  EXPECT_EQ(reasons[0].leverage, 2);
  EXPECT_EQ(reasons[0].category, "supportable");
  EXPECT_EQ(reasons[0].fixability, "untested");
  EXPECT_NE(reasons[0].url.find("gb0059.html"), std::string::npos);
  EXPECT_EQ(reasons[1].reason, "s");
  EXPECT_EQ(reasons[1].leverage, 0);
  EXPECT_EQ(reasons[1].url, "");
}

TEST_F(AggregateTest, KeepsWhatTheNewestFixesDidUntilTheNextCommit) {
  const auto tried = [](const std::string& outcome) {
    CaptureResult capture = GoodCapture({FakeSite("r", "GB0059")});
    capture.mode_detail_json =
        R"({"attempts": [{"names": ["scalars"], "kinds": ["setting"], "status": "ok", "outcome": ")" + outcome +
        R"(", "removed": [")" + capture.sites.front().site_id + R"("]}], "best": 0})";
    return Model{.id = "m", .capture = capture, .commit = kA, .capture_id = {}, .mode = "fix"};
  };
  Run({{"m", GoodCapture({FakeSite("r", "GB0059")})}});
  Run({tried("whole")}, {.ranked = false});
  Snapshot shot = Shot();
  const FixEffects* effects = shot.FixesOf(shot.models[0]);
  ASSERT_NE(effects, nullptr);
  EXPECT_TRUE(effects->IsWhole());
  EXPECT_EQ(shot.reasons[0].fixability, "setting");
  EXPECT_EQ(shot.models[0].numbers.size(), 1u) << "a fix is never part of the published numbers";
  Run({tried("same")}, {.ranked = false});
  shot = Shot();
  EXPECT_EQ(shot.reasons[0].fixability, "source change");
  Run({{"m", GoodCapture({FakeSite("r", "GB0059")}), kB}});
  shot = Shot();
  EXPECT_EQ(shot.FixesOf(shot.models[0]), nullptr);
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

TEST_F(AggregateTest, ContinuesFromItsRowsAfterARestart) {
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

}  // namespace
}  // namespace breakwatch::engine
