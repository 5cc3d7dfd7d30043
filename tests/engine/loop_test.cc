#include "breakwatch/engine/loop.h"

#include "engine/loop_fixture.h"
#include "fakes/sweep_store_wrapper.h"

namespace breakwatch::engine {
namespace {

using fakes::FailedCapture;
using fakes::FakeModel;
using fakes::FakeSite;
using fakes::GoodCapture;
using Counts = std::map<std::string, int>;

class LoopTest : public LoopFixture {};

TEST_F(LoopTest, EachModeHasItsOwnCaptureResultAndStatus) {
  lister_.Answer(ListOf({fakes::FakeModel("org/a", 1, Config(1)), fakes::FakeModel("org/b", 2, Config(1))}));
  SweepRequest request;
  request.modes = {"eval", "train"};
  const auto sweep = RunSweep(request);
  ASSERT_TRUE(sweep.ok()) << sweep.error().message;
  EXPECT_EQ(sweep->planned, 4);
  EXPECT_TRUE(sweep->complete);
  EXPECT_EQ(sweep->modes.at("eval").at("full_graph"), 2);
  EXPECT_EQ(sweep->modes.at("train").at("full_graph"), 2);
  ASSERT_EQ(runner_.started.size(), 2u);  // one a mode: the second model shares both
  EXPECT_EQ(runner_.started[1].mode, "train");
  const auto results = Results(sweep->id);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[3].info.id + " " + results[3].capture.mode, "org/b train");
  EXPECT_EQ(results[3].shared_from, "org/a");
  ExpectFoldEqualsHistory();

  const auto again = RunSweep(request);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(runner_.started.size(), 2u);
}

TEST_F(LoopTest, ACallVariantHasItsOwnRowsAndNeverStandsForTheDefaultCall) {
  lister_.Answer(ListOf({fakes::FakeModel("org/a", 1, Config(1))}));
  runner_.Script("org/a", GoodCapture());
  runner_.Script("org/a", fakes::FailedCapture(Status::kFailedEager, "it needs its mask"));
  SweepRequest request;
  request.modes = WithCalls({"eval"}, "all");
  const auto sweep = RunSweep(request);
  ASSERT_TRUE(sweep.ok()) << sweep.error().message;
  ASSERT_EQ(runner_.started.size(), 3u);
  std::vector<std::string> calls;
  for (const CaptureJob& job : runner_.started) {
    EXPECT_EQ(job.mode, "eval");
    calls.push_back(job.call);
  }
  EXPECT_EQ(calls, (std::vector<std::string>{"", "minimal", "all"}));
  const auto results = Results(sweep->id);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[1].capture.mode, "eval+minimal");
  EXPECT_EQ(results[2].capture.mode, "eval+all");
  const store::Current current = *store_->LoadCurrent();
  ASSERT_EQ(current.models.size(), 1u);
  EXPECT_EQ(current.models[0].status, Status::kFullGraph);
  EXPECT_EQ(current.models[0].numbers.size(), 1u);
  EXPECT_EQ(current.models[0].attempts.size(), 3u);
  ExpectFoldEqualsHistory();
}

TEST_F(LoopTest, FoldsAnOlderProgramsHistoryAgainBeforeAnythingElse) {
  lister_.Answer(ListOf({fakes::FakeModel("org/a", 1, Config(1))}));
  ASSERT_TRUE(RunSweep().ok());
  store::Current older = *store_->LoadCurrent();
  const store::Current now = older;
  older.meta.erase("fold_version"), older.meta.erase("primary_toolchain");
  for (std::size_t i = 0; i < older.models.size(); ++i) older.models.Own(i).attempts.clear();
  ASSERT_TRUE(store_->ReplaceCurrent(older, {}).ok());
  const auto loaded = LoadAggregate(*store_, options_.aggregate);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_FALSE(loaded->is_stored);
  EXPECT_EQ(loaded->aggregate.ToCurrent().meta, now.meta);
  EXPECT_EQ(store_->LoadCurrent()->meta, older.meta);  // a plan writes nothing
  ASSERT_TRUE(MakeLoop().Start().ok());
  EXPECT_EQ(store_->LoadCurrent()->meta, now.meta);
  EXPECT_EQ(store_->LoadCurrent()->models, now.models);
}

TEST_F(LoopTest, EveryModelOfThePlanHasExactlyOneStatus) {
  lister_.Answer(
      ListOf({FakeModel("clean", 1, Config(1)), FakeModel("broken", 2, Config(2)), FakeModel("twin", 3, Config(1)),
              FakeModel("slow", 4, Config(3)), Excluded("gated", 5, Status::kSkippedGated, "asks for an agreement")}));
  runner_.Script("broken", GoodCapture({FakeSite("r", "GB0001", 3)}));
  runner_.Script("slow", FailedCapture(Status::kTimeout, "capture took longer than 300 s"));
  const auto sweep = RunSweep();
  ASSERT_TRUE(sweep.ok()) << sweep.error().message;
  EXPECT_EQ(Statuses(sweep->id), (std::map<std::string, std::string>{{"clean", "full_graph"},
                                                                     {"broken", "graph_breaks"},
                                                                     {"twin", "full_graph"},
                                                                     {"slow", "timeout"},
                                                                     {"gated", "skipped_gated"}}));
  EXPECT_TRUE(sweep->complete);
  EXPECT_EQ(sweep->state, SweepState::kFinished);
  EXPECT_EQ(sweep->planned, 5);
  EXPECT_EQ(sweep->statuses, (Counts{{"full_graph", 2}, {"graph_breaks", 1}, {"timeout", 1}, {"skipped_gated", 1}}));
  EXPECT_EQ(store_->FindSweep("latest")->id, sweep->id);
  EXPECT_EQ(progress_.finished.size(), 1u);
  EXPECT_EQ(progress_.counts, (std::pair<std::size_t, std::size_t>{5, 5}));
  ExpectFoldEqualsHistory();
}

TEST_F(LoopTest, SharesOneCaptureAmongModelsOfOneStructure) {
  lister_.Answer(
      ListOf({FakeModel("first", 1, Config(1)), FakeModel("second", 2, Config(1)), FakeModel("third", 3, Config(1))}));
  runner_.Script("first", GoodCapture({FakeSite("r", "GB0001")}));
  const auto sweep = RunSweep();
  ASSERT_TRUE(sweep.ok());
  EXPECT_EQ(runner_.started.size(), 1u);
  const auto results = Results(sweep->id);
  EXPECT_EQ(results[1].shared_from, "first");
  EXPECT_EQ(results[1].capture_id, results[0].capture_id);
  EXPECT_EQ(results[2].capture.sites.size(), 1u);
  EXPECT_EQ(published_.back().first->reasons.at(0).leverage, 3);
  EXPECT_EQ(EventCounts()["graph_break"], 3);
}

TEST_F(LoopTest, CapturesNothingWhenNothingChanged) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), FakeModel("b", 2, Config(2))}));
  runner_.Script("b", GoodCapture({FakeSite("r", "GB0001")}));
  ASSERT_TRUE(RunSweep().ok());
  const Snapshot first = *published_.back().first;
  const auto second = RunSweep();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(runner_.started.size(), 2u);
  EXPECT_EQ(second->statuses, (Counts{{"full_graph", 1}, {"graph_breaks", 1}}));
  const Snapshot& again = *published_.back().first;
  ASSERT_EQ(again.models.size(), first.models.size());
  for (std::size_t i = 0; i < first.models.size(); ++i) {
    EXPECT_EQ(*again.NumbersOf(again.models[i]), *first.NumbersOf(first.models[i]));
  }
  EXPECT_EQ(EventCounts()["graph_break"], 1);
  EXPECT_EQ(EventCounts()["model_unchanged"], 2);
  ExpectFoldEqualsHistory();
}

TEST_F(LoopTest, ReplacesTheOldCommitByTheNewOne) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1), 'a')}));
  lister_.Answer(ListOf({FakeModel("a", 1, Config(2), 'b')}));
  ASSERT_TRUE(RunSweep().ok());
  ASSERT_TRUE(RunSweep().ok());
  EXPECT_EQ(progress_.plans.back().models[0].reason, "commit aaaaaaa -> bbbbbbb");
  const Snapshot& snapshot = *published_.back().first;
  ASSERT_EQ(snapshot.models.size(), 1u);
  EXPECT_EQ(snapshot.NumbersOf(snapshot.models[0])->commit, std::string(40, 'b'));
}

TEST_F(LoopTest, QuarantinesAStructureAfterThreeSweepsAndRetriesItADayLater) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  runner_.Script("a", FailedCapture(Status::kCrashed, "killed by SIGSEGV"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(RunSweep()->statuses, (Counts{{"crashed", 1}}));
  EXPECT_EQ(progress_.plans.back().models[0].reason, "retry after crashed (2 of 3)");
  EXPECT_EQ(RunSweep()->statuses, (Counts{{"quarantined", 1}}));
  EXPECT_EQ(runner_.StartsOf("a"), 3);
  clock_.Advance(std::chrono::hours(24));
  EXPECT_EQ(RunSweep()->statuses, (Counts{{"crashed", 1}}));
  EXPECT_EQ(RunSweep()->statuses, (Counts{{"quarantined", 1}}));
  ExpectFoldEqualsHistory();
}

TEST_F(LoopTest, StoresEachEventWithItsCause) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), FakeModel("b", 2, Config(2)),
                         Excluded("c", 3, Status::kSkippedNotFound, "no such model")}));
  runner_.Script("a", GoodCapture({FakeSite("r", "GB0001", 1, "one.py"), FakeSite("r", "GB0001", 1, "two.py")}));
  runner_.Script("b", FailedCapture(Status::kFailedEager, "index out of range"));
  ASSERT_TRUE(RunSweep().ok());
  EXPECT_EQ(EventCounts(), (Counts{{"sweep_started", 1},
                                   {"model_planned", 2},
                                   {"model_captured", 1},
                                   {"graph_break", 2},
                                   {"model_failed", 1},
                                   {"model_skipped", 1},
                                   {"sweep_finished", 1}}));
  EXPECT_GT(events_notified_, 0);
}

TEST_F(LoopTest, EndsIncompleteWhenNoCaptureCanStart) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), FakeModel("twin", 2, Config(1)), FakeModel("b", 3, Config(2))}));
  runner_.FailToStart({ErrorCode::kUnavailable, "no zygote: No such file or directory"});
  const auto sweep = RunSweep();
  ASSERT_TRUE(sweep.ok());
  EXPECT_FALSE(sweep->complete);
  EXPECT_EQ(sweep->statuses, (Counts{{"not_attempted", 3}}));
  for (const ModelResult& result : Results(sweep->id)) {
    EXPECT_EQ(result.capture.detail, "no zygote: No such file or directory");
    EXPECT_EQ(result.capture_id, "");
  }
  runner_.StartAgain();
  EXPECT_EQ(RunSweep()->statuses, (Counts{{"full_graph", 3}}));
  ExpectFoldEqualsHistory();
}

TEST_F(LoopTest, FinishesWhatRunsAfterTheRunnerGaveUp) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), FakeModel("b", 2, Config(2)), FakeModel("c", 3, Config(3))}));
  runner_.on_wait = [this] {
    if (runner_.started.size() == 2) runner_.FailToStart({ErrorCode::kUnavailable, "gone"});
  };
  EXPECT_EQ(RunSweep()->statuses, (Counts{{"full_graph", 2}, {"not_attempted", 1}}));
}

TEST_F(LoopTest, KeepsALostWorkerAsFinalAndIncomplete) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  runner_.Script("a", FailedCapture(Status::kWorkerLost, "lost twice"));
  const auto sweep = RunSweep();
  EXPECT_FALSE(sweep->complete);
  EXPECT_EQ(sweep->statuses, (Counts{{"worker_lost", 1}}));
  EXPECT_EQ(runner_.StartsOf("a"), 1);
  EXPECT_FALSE(store_->NewestUnfinished()->has_value());
}

TEST_F(LoopTest, RejectsACaptureByAnotherToolchainThanThePlans) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  runner_.toolchain.torch = "2.16.0";
  EXPECT_EQ(RunSweep()->statuses, (Counts{{"worker_lost", 1}}));
  EXPECT_NE(progress_.results[0].capture.detail.find("torch 2.16.0"), std::string::npos);
  runner_.toolchain = TestToolchain();
  EXPECT_EQ(RunSweep()->statuses, (Counts{{"full_graph", 1}}));
}

TEST_F(LoopTest, HandsEachCaptureItsModelLimitsAndDepth) {
  options_.limits.rss_bytes = 123;
  RankedModel model = FakeModel("a", 1, Config(1));
  model.info.task = "fill-mask";
  lister_.Answer(ListOf({model}));
  ASSERT_TRUE(RunSweep().ok());
  const CaptureJob& job = runner_.started.at(0);
  EXPECT_EQ(job.model, "a");
  EXPECT_EQ(job.revision, std::string(40, 'a'));
  EXPECT_EQ(job.config_json, Config(1));
  EXPECT_EQ(job.architecture, "FakeModel");
  EXPECT_EQ(job.task, "fill-mask");
  EXPECT_EQ(job.limits.rss_bytes, 123);
  EXPECT_EQ(job.depth, Depth::kAuto);
  EXPECT_FALSE(job.structure.empty());
}

TEST_F(LoopTest, PinsAClassWhoseDepthsDisagreed) {
  options_.plan.verify_share = 1;
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  ASSERT_TRUE(RunSweep().ok());
  CaptureResult mismatch = GoodCapture({FakeSite("deep", "")});
  mismatch.depth_mismatch = true;
  runner_.Script("a", mismatch);
  ASSERT_TRUE(RunSweep().ok());
  EXPECT_EQ(runner_.started.back().depth, Depth::kVerify);
  EXPECT_EQ(published_.back().first->sweep.depth_mismatches, 1);
  ASSERT_TRUE(RunSweep().ok());
  EXPECT_EQ(runner_.started.back().depth, Depth::kFull);
  EXPECT_EQ(progress_.plans.back().models[0].reason, "class pinned to full depth");
  ExpectFoldEqualsHistory();
}

TEST_F(LoopTest, PublishesAtMostAtTheIntervalAndUrgentlyAtTheEnd) {
  std::vector<RankedModel> models;
  for (int i = 0; i < 100; ++i) models.push_back(FakeModel("m" + std::to_string(i), i + 1, Config(i)));
  lister_.Answer(ListOf(models));
  runner_.capture_takes = std::chrono::seconds(2);
  const SteadyTime begun = clock_.Steady();
  ASSERT_TRUE(RunSweep().ok());
  const auto took = std::chrono::duration_cast<std::chrono::seconds>(clock_.Steady() - begun).count();
  ASSERT_GT(took, 60);
  EXPECT_LE(static_cast<std::int64_t>(published_.size()), took / 30 + 2);
  EXPECT_GE(static_cast<std::int64_t>(published_.size()), took / 30);
  for (std::size_t i = 0; i + 1 < published_.size(); ++i) EXPECT_FALSE(published_[i].second);
  EXPECT_TRUE(published_.back().second);
  EXPECT_EQ(published_.back().first->models.size(), 100u);
}

TEST_F(LoopTest, PublishesWhatIsKnownWhenItStarts) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  ASSERT_TRUE(RunSweep().ok());
  published_.clear();
  ASSERT_TRUE(MakeLoop().Start().ok());
  ASSERT_EQ(published_.size(), 1u);
  EXPECT_TRUE(published_[0].second);
  EXPECT_EQ(published_[0].first->models.size(), 1u);
}

TEST_F(LoopTest, PublishesNothingWhenItStartsWithAnEmptyStore) {
  ASSERT_TRUE(MakeLoop().Start().ok());
  EXPECT_TRUE(published_.empty());
}

TEST_F(LoopTest, RerunsASavedPlanAtItsCommitsWithoutListing) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), Excluded("b", 2, Status::kSkippedGated, "gated")}));
  const auto first = RunSweep();
  SweepRequest request;
  request.saved_plan = *store_->LoadPlan(first->id);
  request.rebuild = Rebuild::kAlways;
  const auto again = RunSweep(request);
  ASSERT_TRUE(again.ok());
  EXPECT_NE(again->id, first->id);
  EXPECT_EQ(Statuses(again->id), Statuses(first->id));
  EXPECT_EQ(lister_.Requests().size(), 1u);
  EXPECT_EQ(runner_.StartsOf("a"), 2);
}

TEST_F(LoopTest, PassesTheListingsErrorOnAndStoresNoSweep) {
  lister_.Answer(Error{ErrorCode::kUnavailable, "the Hub answers 503", true});
  const auto sweep = RunSweep();
  ASSERT_FALSE(sweep.ok());
  EXPECT_EQ(sweep.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(store_->Sweeps(10)->empty());
  EXPECT_EQ(EventCounts(), (Counts{{"sweep_failed", 1}}));
  ASSERT_EQ(progress_.failed.size(), 1u);
  EXPECT_EQ(progress_.failed[0].message, "the Hub answers 503");
}

TEST_F(LoopTest, PublishesWhenASweepLastFailedAlsoAfterARestart) {
  lister_.Answer(Error{ErrorCode::kUnavailable, "the Hub answers 503", true});
  const SystemTime failed = clock_.Now();
  ASSERT_FALSE(RunSweep().ok());
  EXPECT_EQ(published_.back().first->sweep.last_failure, failed);
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  ASSERT_TRUE(RunSweep().ok());
  EXPECT_EQ(published_.back().first->sweep.last_failure, failed);
  EXPECT_GT(published_.back().first->sweep.last_success, failed);
}

TEST_F(LoopTest, AnIncompleteSweepIsAFailureAndAStoppedOneIsNot) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  runner_.on_wait = [this] {
    if (!asked_) asked_ = true, Stop();
  };
  EXPECT_EQ(RunSweep().error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(published_.back().first->sweep.last_failure, SystemTime{});
  runner_.FailToStart({ErrorCode::kUnavailable, "no zygote"});
  ASSERT_FALSE(RunSweep()->complete);
  EXPECT_EQ(published_.back().first->sweep.last_failure, clock_.Now());
}

TEST_F(LoopTest, ARequestThatCannotBeMetIsNoFailure) {
  ASSERT_EQ(Resume().error().code, ErrorCode::kNotFound);
  EXPECT_EQ(*store_->LastFailure(), SystemTime{});
}

TEST_F(LoopTest, AOneShotSweepPublishesItsIntervalAndNoNextSweep) {
  options_.sweep_interval = std::chrono::hours(24);
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  ASSERT_TRUE(RunSweep().ok());
  EXPECT_EQ(published_.back().first->sweep.interval, std::chrono::hours(24));
  EXPECT_EQ(published_.back().first->sweep.next_due, SystemTime{});
}

TEST_F(LoopTest, StoresTheEventOfAFailureWithItsSweep) {
  lister_.Answer(Error{ErrorCode::kUnavailable, "the Hub answers 503", true});
  Ask("asked");
  runner_.on_wait = [this] {
    if (!progress_.failed.empty()) Stop();
  };
  ASSERT_TRUE(MakeLoop().Serve().ok());
  ASSERT_EQ(progress_.accepted.size(), 1u);
  EXPECT_TRUE(progress_.refused.empty());
  const auto events = store_->EventsAfter(0, 10, 1u << 20);
  ASSERT_EQ(events->size(), 1u);
  EXPECT_NE(events->front().line.find("sweep_failed"), std::string::npos);
  EXPECT_EQ(events->front().sweep_id, progress_.accepted[0].second);
}

TEST_F(LoopTest, ARefusedRequestBelongsToNoSweepNotToTheOneBefore) {
  lister_.Answer(Error{ErrorCode::kUnavailable, "the Hub answers 503", true});
  SweepRequest resume;
  resume.resume = true;
  Ask("fails");
  Ask("is refused", resume);
  runner_.on_wait = [this] {
    if (progress_.failed.size() == 2) Stop();
  };
  ASSERT_TRUE(MakeLoop().Serve().ok());
  using Refused = std::vector<std::pair<std::string, ErrorCode>>;
  EXPECT_EQ(progress_.refused, (Refused{{"is refused", ErrorCode::kNotFound}}));
  ASSERT_EQ(progress_.accepted.size(), 1u);
  EXPECT_EQ(progress_.accepted[0].first, "fails");
  const auto events = store_->EventsAfter(0, 10, 1u << 20);
  ASSERT_EQ(events->size(), 2u);
  EXPECT_FALSE((*events)[0].sweep_id.empty());
  EXPECT_EQ((*events)[1].sweep_id, "");
}

TEST_F(LoopTest, ReportsTheListingsWarningsAndProgress) {
  RankedList list = ListOf({FakeModel("a", 1, Config(1))});
  list.warnings = {"2 duplicates left out"};
  lister_.Answer(list);
  ASSERT_TRUE(RunSweep().ok());
  EXPECT_EQ(progress_.warnings, (std::vector<std::string>{"2 duplicates left out"}));
  EXPECT_EQ(progress_.listed, (std::pair<int, int>{1, 1}));
}

TEST_F(LoopTest, StopsAListingThatHangs) {
  lister_.HangUntilStopped();
  runner_.on_wait = [this] {
    if (commands_.Fd() >= 0 && !asked_) asked_ = true, Stop();
  };
  const auto sweep = RunSweep();
  ASSERT_FALSE(sweep.ok());
  EXPECT_EQ(sweep.error().code, ErrorCode::kInterrupted);
}

TEST_F(LoopTest, KillsCapturesAtAStopAndLeavesThemWithoutStatus) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), FakeModel("b", 2, Config(2)), FakeModel("c", 3, Config(3))}));
  runner_.on_wait = [this] {
    if (progress_.results.size() == 1 && !asked_) asked_ = true, Stop();
  };
  const auto sweep = RunSweep();
  ASSERT_FALSE(sweep.ok());
  EXPECT_EQ(sweep.error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(runner_.stops, 1);
  const auto unfinished = store_->NewestUnfinished();
  ASSERT_TRUE(unfinished->has_value());
  EXPECT_EQ((*unfinished)->state, SweepState::kInterrupted);
  EXPECT_EQ(Statuses((*unfinished)->id).size(), 1u);
  EXPECT_TRUE(published_.back().second);
}

// Refuses the n-th write of results, as a full disk does, and takes those after it.
class FullOnceStore : public fakes::SweepStoreWrapper {
 public:
  FullOnceStore(store::SweepStore& inner, int n) : SweepStoreWrapper(inner), left_(n) {}
  Result<void> AppendResults(std::span<const store::ResultWrite> writes) override {
    if (--left_ == 0) return Error{ErrorCode::kStore, "database or disk is full"};
    return SweepStoreWrapper::AppendResults(writes);
  }

 private:
  int left_;
};

TEST_F(LoopTest, EndsASweepWithTheStoresErrorAndLosesNothing) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), FakeModel("b", 2, Config(2)), FakeModel("c", 3, Config(3))}));
  FullOnceStore full(*store_, 2);
  Loop loop = MakeLoop(full);
  const auto sweep = loop.RunSweep({});
  ASSERT_FALSE(sweep.ok());
  EXPECT_EQ(sweep.error().code, ErrorCode::kStore);
  EXPECT_NE(sweep.error().message.find("disk is full"), std::string::npos);
  SweepRequest resume;
  resume.resume = true;
  const auto resumed = loop.RunSweep(resume);
  ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  EXPECT_EQ(resumed->statuses, (Counts{{"full_graph", 3}}));
  EXPECT_EQ(runner_.StartsOf("a"), 1);
  ExpectFoldEqualsHistory();
}

TEST_F(LoopTest, CapturesAgainWhatTheStoreNoLongerHas) {
  class Forgetful : public fakes::SweepStoreWrapper {
   public:
    using SweepStoreWrapper::SweepStoreWrapper;
    Result<CaptureResult> LoadCapture(const std::string& id) override {
      return Error{ErrorCode::kNotFound, "no capture " + id};
    }
  };
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1))}));
  ASSERT_TRUE(RunSweep().ok());
  Forgetful forgetful(*store_);
  EXPECT_EQ(MakeLoop(forgetful).RunSweep({})->statuses, (Counts{{"full_graph", 1}}));
  EXPECT_EQ(runner_.StartsOf("a"), 2);
}

}  // namespace
}  // namespace breakwatch::engine
