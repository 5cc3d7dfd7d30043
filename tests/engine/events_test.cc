#include "events.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "breakwatch/engine/aggregate.h"
#include "engine/support.h"

namespace breakwatch::engine {
namespace {

using fakes::FailedCapture;
using fakes::FakeSite;
using fakes::GoodCapture;
using nlohmann::json;

ModelResult ResultOf(CaptureResult capture, const std::string& capture_id = "capture", char commit = 'a') {
  ModelResult result;
  result.sweep_id = "sweep";
  result.info = fakes::FakeModel("org/model", 3, "", commit).info;
  result.structure = "digest";
  result.capture_id = capture_id;
  result.rebuild_reason = "new model";
  result.capture = std::move(capture);
  result.capture.toolchain = TestToolchain();
  return result;
}

// The row after these results.
TrackedModel RowAfter(const std::vector<ModelResult>& results) {
  Aggregate aggregate({}, {});
  for (const ModelResult& result : results) (void)aggregate.Apply(result);
  return *aggregate.Find("org/model");
}

std::vector<std::string> Names(const std::vector<Event>& events) {
  std::vector<std::string> names;
  for (const Event& event : events) names.push_back(event.name);
  return names;
}

std::vector<Event> EventsOf(const ModelResult& result, const TrackedModel* before = nullptr) {
  return ResultEvents(result, before, TestToolchain().Key());
}

using NamesOf = std::vector<std::string>;

TEST(EventsTest, ReportEachSiteOfANewResultOnce) {
  const auto events =
      EventsOf(ResultOf(GoodCapture({FakeSite("r", "GB0001", 4, "a.py"), FakeSite("r", "GB0001", 1, "b.py")})));
  ASSERT_EQ(Names(events), (NamesOf{"model_captured", "graph_break", "graph_break"}));
  const json fields = json::parse(events[1].fields_json);
  EXPECT_EQ(fields["reason"], "r");
  EXPECT_EQ(fields["gb_id"], "GB0001");
  EXPECT_EQ(fields["file"], "a.py");
  EXPECT_EQ(fields["line"], 7);
  EXPECT_EQ(fields["function"], "forward");
  EXPECT_EQ(fields["occurrences"], 4);
  EXPECT_EQ(fields["structure"], "digest");
  EXPECT_TRUE(fields["hints"].is_array());
  EXPECT_EQ(events[1].model, "org/model");
  EXPECT_EQ(events[1].commit, std::string(40, 'a'));
  EXPECT_EQ(events[1].sweep_id, "sweep");
}

TEST(EventsTest, DoNotRepeatAReusedCapture) {
  ModelResult result = ResultOf(GoodCapture({FakeSite("r", "GB0001")}));
  const TrackedModel before = RowAfter({result});
  result.reused = true;
  EXPECT_EQ(Names(EventsOf(result, &before)), (NamesOf{"model_unchanged"}));
  result.info.sha = std::string(40, 'b');
  EXPECT_EQ(Names(EventsOf(result, &before)), (NamesOf{"model_unchanged"}));
}

TEST(EventsTest, CompareAnImportWithNoCaptureOfOurs) {
  const TrackedModel before = RowAfter({ResultOf(GoodCapture({FakeSite("ours", "GB0001")}))});
  ModelResult import = ResultOf(GoodCapture({FakeSite("theirs", "GB0002")}), "imported");
  import.capture.mode = kImport;
  import.capture.toolchain.name = kImport;
  EXPECT_EQ(Names(EventsOf(import, &before)), (NamesOf{"model_captured", "graph_break"}));
  import.reused = true;  // the same trace again
  EXPECT_EQ(Names(EventsOf(import, &before)), (NamesOf{"model_unchanged"}));
}

TEST(EventsTest, ReportTheSitesOfAReusedCaptureThatIsNewForItsRepository) {
  ModelResult result = ResultOf(GoodCapture({FakeSite("r", "GB0001")}));
  result.reused = true;
  EXPECT_EQ(Names(EventsOf(result)), (NamesOf{"model_captured", "graph_break"}));
}

TEST(EventsTest, NameNewAndFixedReasons) {
  const TrackedModel before =
      RowAfter({ResultOf(GoodCapture({FakeSite("gone", "GB0001"), FakeSite("stays", "GB0002")}))});
  const auto events =
      EventsOf(ResultOf(GoodCapture({FakeSite("stays", "GB0002"), FakeSite("came", "GB0003")}), "other", 'b'), &before);
  ASSERT_EQ(Names(events), (NamesOf{"model_captured", "graph_break", "graph_break", "reason_new", "reason_fixed"}));
  EXPECT_EQ(json::parse(events[3].fields_json)["reason"], "came");
  EXPECT_EQ(json::parse(events[4].fields_json)["reason"], "gone");
  EXPECT_EQ(json::parse(events[4].fields_json)["commit_before"], std::string(40, 'a'));
}

TEST(EventsTest, CompareANewToolchainWithThePublishedOne) {
  const TrackedModel before = RowAfter({ResultOf(GoodCapture({FakeSite("r", "GB0001")}))});
  ModelResult newer = ResultOf(GoodCapture(), "other");
  newer.capture.toolchain = TestToolchain("2.16.0");
  EXPECT_EQ(Names(EventsOf(newer, &before)), (NamesOf{"model_captured", "reason_fixed"}));
}

TEST(EventsTest, ReportNothingAsNewInAModelsFirstResult) {
  const TrackedModel before = RowAfter({ResultOf(FailedCapture(Status::kTimeout, "slow"))});
  EXPECT_EQ(Names(EventsOf(ResultOf(GoodCapture({FakeSite("r", "")})), &before)),
            (NamesOf{"model_captured", "graph_break"}));
}

TEST(EventsTest, ReportWhyAModelFailedWithinBounds) {
  CaptureResult capture = FailedCapture(Status::kCrashed, "killed by SIGSEGV");
  capture.error = std::string(100'000, 'x');
  capture.output_tail = "bad \xff byte";
  const auto events = EventsOf(ResultOf(capture));
  ASSERT_EQ(Names(events), (NamesOf{"model_failed"}));
  const json fields = json::parse(events[0].fields_json);
  EXPECT_EQ(fields["status"], "crashed");
  EXPECT_EQ(fields["status_detail"], "killed by SIGSEGV");
  EXPECT_LE(fields["error"].get<std::string>().size(), 4096u);
  EXPECT_EQ(events[0].level, Level::kWarn);
}

TEST(EventsTest, DistinguishSkippedFromFailed) {
  EXPECT_EQ(Names(EventsOf(ResultOf(FailedCapture(Status::kSkippedGated, "gated"), ""))), (NamesOf{"model_skipped"}));
  EXPECT_EQ(Names(EventsOf(ResultOf(FailedCapture(Status::kQuarantined, "until"), ""))), (NamesOf{"model_skipped"}));
  EXPECT_EQ(Names(EventsOf(ResultOf(FailedCapture(Status::kFailedResolve, "503"), ""))), (NamesOf{"model_failed"}));
  EXPECT_EQ(EventsOf(ResultOf(FailedCapture(Status::kWorkerLost, "lost"), "")).front().level, Level::kError);
}

TEST(EventsTest, AnnounceASweepAndWhatItWillDo) {
  Sweep sweep;
  sweep.id = "sweep";
  sweep.trigger = SweepTrigger::kSignal;
  sweep.planned = 2;
  sweep.toolchain = TestToolchain();
  Plan plan;
  plan.models.resize(2);
  plan.models[0].info = fakes::FakeModel("org/model", 1, "").info;
  plan.models[0].action = Action::kCapture;
  plan.models[0].reason = "new model";
  const auto events = BeginEvents(sweep, plan);
  ASSERT_EQ(Names(events), (NamesOf{"sweep_started", "model_planned"}));
  const json started = json::parse(events[0].fields_json);
  EXPECT_EQ(started["trigger"], "signal");
  EXPECT_EQ(started["captures"], 1);
  EXPECT_EQ(started["skipped"], 1);
  EXPECT_EQ(started["torch"], "2.15.0");
  EXPECT_EQ(json::parse(events[1].fields_json)["reason"], "new model");
}

TEST(EventsTest, SumUpASweep) {
  Sweep sweep;
  sweep.id = "sweep";
  sweep.state = SweepState::kFinished;
  sweep.statuses = {{"full_graph", 2}};
  sweep.planned = 2;
  sweep.finished_at = sweep.started_at + std::chrono::seconds(90);
  const json fields = json::parse(SweepFinished(sweep).fields_json);
  EXPECT_EQ(fields["state"], "finished");
  EXPECT_EQ(fields["duration_s"], 90.0);
  EXPECT_EQ(fields["statuses"]["full_graph"], 2);
  sweep.planned = 3;
  EXPECT_EQ(json::parse(SweepFinished(sweep).fields_json)["state"], "given_up");
}

}  // namespace
}  // namespace breakwatch::engine
