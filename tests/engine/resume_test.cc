#include <tuple>

#include "breakwatch/core/json.h"
#include "engine/loop_fixture.h"
#include "fakes/event_log_wrapper.h"
#include "fakes/sweep_store_wrapper.h"

namespace breakwatch::engine {
namespace {

using fakes::FailedCapture;
using fakes::FakeModel;
using fakes::FakeSite;
using fakes::GoodCapture;

struct Died {};

// The process dies at its n-th write, to whichever seam: before or just after it reached the disk.
class Death {
 public:
  Death(int dies_at, bool written) : left_(dies_at), written_(written) {}

  template <class Write>
  Result<void> Live(const Write& write) {
    const bool dies = --left_ == 0;
    if (dies && !written_) throw Died();
    auto result = write();
    if (dies) throw Died();
    return result;
  }

 private:
  int left_;
  const bool written_;
};

class MortalSweeps : public fakes::SweepStoreWrapper {
 public:
  MortalSweeps(store::SweepStore& inner, Death& death) : SweepStoreWrapper(inner), death_(death) {}

  Result<void> BeginSweep(const Sweep& sweep, const Plan& plan, std::span<const Event> events,
                          const store::CurrentChange& change, std::span<const store::SweepEnd> given_up) override {
    return death_.Live([&] { return SweepStoreWrapper::BeginSweep(sweep, plan, events, change, given_up); });
  }
  Result<void> AppendResults(std::span<const store::ResultWrite> writes) override {
    return death_.Live([&] { return SweepStoreWrapper::AppendResults(writes); });
  }
  Result<void> FinishSweep(const Sweep& sweep, std::span<const Event> events,
                           const store::CurrentChange& change) override {
    return death_.Live([&] { return SweepStoreWrapper::FinishSweep(sweep, events, change); });
  }

 private:
  Death& death_;
};

class MortalLog : public fakes::EventLogWrapper {
 public:
  MortalLog(store::EventLog& inner, Death& death) : EventLogWrapper(inner), death_(death) {}

  Result<void> AppendEvents(std::span<const Event> events) override {
    return death_.Live([&] { return EventLogWrapper::AppendEvents(events); });
  }

 private:
  Death& death_;
};

// The disk is full when a sweep begins.
class FullStore : public fakes::SweepStoreWrapper {
 public:
  using SweepStoreWrapper::SweepStoreWrapper;
  Result<void> BeginSweep(const Sweep&, const Plan&, std::span<const Event>, const store::CurrentChange&,
                          std::span<const store::SweepEnd>) override {
    return Error{ErrorCode::kStore, "the disk is full", true, {}};
  }
};

// The first result of every sweep is damaged and skipped.
class HoleyStore : public fakes::SweepStoreWrapper {
 public:
  using SweepStoreWrapper::SweepStoreWrapper;
  Result<std::vector<ModelResult>> Results(const std::string& sweep_id) override {
    auto results = SweepStoreWrapper::Results(sweep_id);
    if (results.ok() && !results->empty()) results->erase(results->begin());
    return results;
  }
};

// A row of every plan is damaged and skipped.
class TornStore : public fakes::SweepStoreWrapper {
 public:
  using SweepStoreWrapper::SweepStoreWrapper;
  Result<Plan> LoadPlan(const std::string& sweep_id) override {
    auto plan = SweepStoreWrapper::LoadPlan(sweep_id);
    if (plan && torn) plan->models.erase(plan->models.begin());
    return plan;
  }
  bool torn = true;
};

class ResumeTest : public LoopFixture {
 protected:
  ResumeTest() {
    lister_.Answer(
        ListOf({FakeModel("clean", 1, Config(1)), FakeModel("twin", 2, Config(1)), FakeModel("broken", 3, Config(2)),
                FakeModel("slow", 4, Config(3)), Excluded("gated", 5, Status::kSkippedGated, "gated"),
                FakeModel("twin2", 6, Config(2)), FakeModel("last", 7, Config(4))}));
    runner_.Script("broken", GoodCapture({FakeSite("r", "GB0001", 3)}));
    runner_.Script("slow", FailedCapture(Status::kTimeout, "too slow"));
  }

  // Runs until the n-th write kills the process. False if it was not killed.
  bool DieAt(int n, bool written, bool resume) {
    Death death(n, written);
    MortalSweeps sweeps(*store_, death);
    MortalLog log(*store_, death);
    SweepRequest request;
    request.resume = resume;
    try {
      (void)MakeLoop(sweeps, log).RunSweep(request);
      return false;
    } catch (const Died&) {
      (void)runner_.StopAll();
      return true;
    }
  }

  void ExpectWholeSweep(const Sweep& sweep) {
    EXPECT_EQ(Statuses(sweep.id), (std::map<std::string, std::string>{{"clean", "full_graph"},
                                                                      {"twin", "full_graph"},
                                                                      {"broken", "graph_breaks"},
                                                                      {"slow", "timeout"},
                                                                      {"gated", "skipped_gated"},
                                                                      {"twin2", "graph_breaks"},
                                                                      {"last", "full_graph"}}));
    EXPECT_EQ(sweep.statuses, (std::map<std::string, int>{
                                  {"full_graph", 3}, {"graph_breaks", 2}, {"timeout", 1}, {"skipped_gated", 1}}));
    EXPECT_TRUE(sweep.complete);
    EXPECT_FALSE(store_->NewestUnfinished()->has_value());
    const Snapshot& snapshot = *published_.back().first;
    EXPECT_EQ(snapshot.models.size(), 7u);
    EXPECT_EQ(snapshot.reasons.at(0).leverage, 2);
    // Each event is stored once with its cause, neither lost nor duplicated.
    auto events = EventCounts();
    EXPECT_EQ(events["graph_break"], 2);
    EXPECT_EQ(events["model_captured"], 5);
    EXPECT_EQ(events["model_failed"], 1);
    EXPECT_EQ(events["sweep_started"], 1);
    EXPECT_EQ(events["sweep_finished"], 1);
    ExpectFoldEqualsHistory();
    const auto trends = store_->ReadTrends({});
    ASSERT_EQ(trends->size(), 1u) << "a sweep that was resumed is folded once";
    EXPECT_EQ(trends->at(0).rows[0].numbers.models_with_numbers, 5);
  }

  // One run that dies at write n, then one that finishes. No stored capture is repeated.
  void DieAndResume(int n, bool written) {
    SCOPED_TRACE(testing::Message() << "write " << n << (written ? ", after" : ", before"));
    ASSERT_TRUE(DieAt(n, written, /*resume=*/false));
    const auto unfinished = store_->NewestUnfinished();
    ASSERT_TRUE(unfinished.ok());
    if (!unfinished->has_value()) {  // before the sweep was stored, or after its end
      if (n == 1) ExpectWholeSweep(*RunSweep());
      return;
    }
    std::set<std::string> stored;
    for (const ModelResult& result : Results((*unfinished)->id)) stored.insert(result.info.id);
    const Plan plan = *store_->LoadPlan((*unfinished)->id);
    runner_.started.clear();
    const auto resumed = Resume();
    ASSERT_TRUE(resumed.ok()) << resumed.error().message;
    EXPECT_EQ(resumed->id, (*unfinished)->id);
    EXPECT_EQ(progress_.done_before, stored.size());
    for (const CaptureJob& job : runner_.started) {
      EXPECT_FALSE(stored.contains(job.model)) << job.model << " was captured twice";
      EXPECT_EQ(job.revision, std::string(40, 'a'));
    }
    EXPECT_EQ(ToJson(*store_->LoadPlan(resumed->id)), ToJson(plan));
    EXPECT_EQ(lister_.Requests().size(), 1u);
    ExpectWholeSweep(*resumed);
  }
};

// The writes of the sweep: begin, seven results, end.
constexpr int kWrites = 9;

class ResumeAfterDeathTest : public ResumeTest, public ::testing::WithParamInterface<std::tuple<int, bool>> {};

TEST_P(ResumeAfterDeathTest, LosesNothingAndCapturesNothingTwice) {
  DieAndResume(std::get<0>(GetParam()), std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(EveryWrite, ResumeAfterDeathTest,
                         ::testing::Combine(::testing::Range(1, kWrites + 1), ::testing::Bool()), [](const auto& test) {
                           return (std::get<1>(test.param) ? "After" : "Before") +
                                  std::to_string(std::get<0>(test.param));
                         });

TEST_F(ResumeTest, HasNoMoreWritesThanTheDeathsTested) { EXPECT_FALSE(DieAt(kWrites + 1, false, false)); }

// Its plan and results are those of the sweep before, except of the model that is tried again.
TEST_F(ResumeTest, ResumesASweepOfUnchangedModelsWithEveryEntryOnce) {
  runner_.Script("slow", FailedCapture(Status::kWorkerLost, "the node is gone"));  // tried again in each sweep
  ASSERT_TRUE(RunSweep().ok());
  for (int n = 2; n <= 4; ++n) {
    for (const bool written : {false, true}) {
      SCOPED_TRACE(testing::Message() << "write " << n << (written ? ", after" : ", before"));
      const auto before = EventCounts();
      const std::size_t sweeps = store_->Sweeps(100)->size();
      ASSERT_TRUE(DieAt(n, written, /*resume=*/false));
      const auto resumed = store_->NewestUnfinished()->has_value() ? Resume() : store_->FindSweep("latest");
      ASSERT_TRUE(resumed.ok()) << resumed.error().message;
      EXPECT_EQ(store_->Sweeps(100)->size(), sweeps + 1);
      EXPECT_EQ(store_->LoadPlan(resumed->id)->models.size(), 7u);
      EXPECT_EQ(Statuses(resumed->id).size(), 7u);
      auto after = EventCounts();
      for (const auto& [name, count] : before) after[name] -= count;
      EXPECT_EQ(after["model_planned"], 6);
      EXPECT_EQ(after["model_unchanged"], 5);
      EXPECT_TRUE(store_->Check().ok());
      ExpectFoldEqualsHistory();
    }
  }
}

TEST_F(ResumeTest, SurvivesADeathAtEveryStepOfEveryLife) {
  ASSERT_TRUE(DieAt(2, false, false));
  const std::string id = (*store_->NewestUnfinished())->id;
  int lives = 1;
  // Two writes for each run, of which one records that the sweep was resumed.
  while (store_->NewestUnfinished()->has_value() && lives < 50) ++lives, (void)DieAt(3, true, true);
  EXPECT_EQ(lives, 5);
  EXPECT_EQ(Statuses(id).size(), 7u);
  ExpectFoldEqualsHistory();
}

TEST_F(ResumeTest, ReportsThatThereIsNothingToResume) {
  const auto resumed = Resume();
  ASSERT_FALSE(resumed.ok());
  EXPECT_EQ(resumed.error().code, ErrorCode::kNotFound);
}

TEST_F(ResumeTest, DoesNotResumeASweepWhosePlanIsDamaged) {
  ASSERT_TRUE(DieAt(4, true, false));
  const std::string id = (*store_->NewestUnfinished())->id;
  const std::size_t stored = Results(id).size();
  runner_.started.clear();
  TornStore torn(*store_);
  SweepRequest request;
  request.resume = true;
  const auto resumed = MakeLoop(torn).RunSweep(request);
  ASSERT_FALSE(resumed.ok());
  EXPECT_EQ(resumed.error().code, ErrorCode::kStore);
  EXPECT_TRUE(resumed.error().message.starts_with("the plan of sweep " + id +
                                                  " is damaged and cannot be resumed; start a new sweep"))
      << resumed.error().message;
  EXPECT_TRUE(runner_.started.empty());
  EXPECT_EQ(Results(id).size(), stored);
  EXPECT_FALSE(store_->NewestUnfinished()->has_value()) << "nor is it resumed once more";
  EXPECT_TRUE(store::IsGivenUp(*store_->FindSweep(id)));
  ASSERT_TRUE(RunSweep().ok());
}

TEST_F(ResumeTest, CapturesTheRestOfASweepWithADamagedResult) {
  ASSERT_TRUE(DieAt(4, true, false));
  const std::string id = (*store_->NewestUnfinished())->id;
  const auto stored = Results(id);
  ASSERT_FALSE(stored.empty());
  runner_.started.clear();
  HoleyStore holey(*store_);
  SweepRequest request;
  request.resume = true;
  const auto resumed = MakeLoop(holey).RunSweep(request);
  ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  EXPECT_EQ(Results(id).size(), static_cast<std::size_t>(resumed->planned));
  EXPECT_FALSE(resumed->complete) << "one of its results has no status";
  for (const CaptureJob& job : runner_.started) EXPECT_NE(job.model, stored.front().info.id);
}

TEST_F(ResumeTest, DoesNotCaptureByAnotherToolchainThanThePlans) {
  ASSERT_TRUE(DieAt(4, true, false));
  options_.plan.toolchain.torch = "2.16.0";
  runner_.started.clear();
  const auto resumed = Resume();
  ASSERT_TRUE(resumed.ok());
  EXPECT_TRUE(runner_.started.empty());
  EXPECT_FALSE(resumed->complete);
  EXPECT_GT(resumed->statuses.at("not_attempted"), 0);
  EXPECT_EQ(Statuses(resumed->id).size(), 7u);
}

TEST_F(ResumeTest, EndsAnUnfinishedSweepWhenANewListingBegins) {
  ASSERT_TRUE(DieAt(4, true, false));
  const std::string old = (*store_->NewestUnfinished())->id;
  const auto sweep = RunSweep();
  ASSERT_TRUE(sweep.ok());
  EXPECT_FALSE(store_->NewestUnfinished()->has_value());
  EXPECT_EQ(store_->FindSweep(old)->state, SweepState::kFinished);
  EXPECT_FALSE(store_->FindSweep(old)->complete);
  EXPECT_EQ(published_.back().first->sweep.sweep_id, sweep->id);
  ExpectFoldEqualsHistory();
}

TEST_F(ResumeTest, KeepsAnUnfinishedSweepWhenTheNextOneCannotBegin) {
  ASSERT_TRUE(DieAt(4, true, false));
  const std::string old = (*store_->NewestUnfinished())->id;
  FullStore full(*store_);
  const auto sweep = MakeLoop(full).RunSweep({});
  ASSERT_FALSE(sweep.ok());
  EXPECT_EQ(sweep.error().code, ErrorCode::kStore);
  const auto resumed = Resume();
  ASSERT_TRUE(resumed.ok());
  EXPECT_EQ(resumed->id, old);
  ExpectFoldEqualsHistory();
}

TEST_F(ResumeTest, KeepsAnUnfinishedSweepWhenAListingIsEmpty) {
  ASSERT_TRUE(DieAt(4, true, false));
  const std::string old = (*store_->NewestUnfinished())->id;
  lister_.Answer(ListOf({}));
  const auto empty = RunSweep();
  ASSERT_TRUE(empty.ok());
  EXPECT_FALSE(empty->complete);
  EXPECT_EQ((*store_->NewestUnfinished())->id, old);
}

TEST_F(ResumeTest, KeepsAnUnfinishedSweepWhileOneOfNamedModelsRuns) {
  ASSERT_TRUE(DieAt(4, true, false));
  const std::string old = (*store_->NewestUnfinished())->id;
  lister_.Answer(ListOf({FakeModel("named", 0, Config(9))}, /*ranked=*/false));
  ASSERT_TRUE(RunSweep().ok());
  const auto resumed = Resume();
  ASSERT_TRUE(resumed.ok());
  EXPECT_EQ(resumed->id, old);
}

}  // namespace
}  // namespace breakwatch::engine
