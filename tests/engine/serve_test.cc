#include <gmock/gmock.h>

#include <set>

#include "engine/loop_fixture.h"
#include "fakes/sweep_store_wrapper.h"

namespace breakwatch::engine {
namespace {

using fakes::FakeModel;
using std::chrono::seconds;

// Serves until `done`, which is called before every wait.
class ServeTest : public LoopFixture {
 protected:
  ServeTest() {
    lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), FakeModel("b", 2, Config(2))}));
    options_.default_request.rebuild = Rebuild::kAlways;
    begun_ = clock_.Steady();
  }

  Result<void> ServeUntil(std::function<bool()> done) { return ServeUntil(*store_, std::move(done)); }
  Result<void> ServeUntil(store::SweepStore& sweeps, std::function<bool()> done) {
    runner_.on_wait = [this, done = std::move(done)] {
      if (each_wait_) each_wait_();
      if (!stopped_ && done()) stopped_ = true, Stop();
    };
    return MakeLoop(sweeps).Serve();
  }
  void Cancel(const std::string& command_id) {
    Command cancel;
    cancel.kind = Command::Kind::kCancel;
    cancel.id = command_id;
    ASSERT_TRUE(commands_.Push(cancel));
  }
  std::size_t Finished() const { return progress_.finished.size(); }
  // The starts of sweeps, in seconds from the first.
  std::vector<std::int64_t> Starts() {
    std::vector<std::int64_t> starts;
    const auto sweeps = store_->Sweeps(100);
    for (const Sweep& sweep : *sweeps) {
      starts.insert(starts.begin(), std::chrono::duration_cast<seconds>(sweep.started_at - first_start_).count());
    }
    return starts;
  }

  const SystemTime first_start_ = clock_.Now();
  SteadyTime begun_;
  bool stopped_ = false;
  std::function<void()> each_wait_;
  int asked_times_ = 0;
};

using Starts_ = std::vector<std::int64_t>;

TEST_F(ServeTest, SweepsAtTheIntervalWithoutDrift) {
  options_.sweep_interval = seconds(100);
  runner_.capture_takes = seconds(15);
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 4; }).ok());
  EXPECT_EQ(Starts(), (Starts_{0, 100, 200, 300}));
  EXPECT_EQ(progress_.finished[0].trigger, SweepTrigger::kInterval);
}

TEST_F(ServeTest, EndsASweepAndItselfWhenTheStateDirectoryIsGone) {
  options_.sweep_interval = seconds(100);
  bool gone = false;
  held_ = [&]() -> Result<void> {
    return gone ? Result<void>(Error{ErrorCode::kStore, "the state directory was removed"}) : Result<void>();
  };
  runner_.on_start = [&](const CaptureJob&) { gone = true; };
  const auto served = ServeUntil([] { return false; });
  ASSERT_FALSE(served.ok());
  EXPECT_EQ(served.error().message, "the state directory was removed");
  EXPECT_TRUE(progress_.finished.empty());
  EXPECT_EQ(Starts(), Starts_{0});
}

TEST_F(ServeTest, WarnsOfAnEmptyListingAndKeepsTheTrackedSet) {
  ASSERT_TRUE(RunSweep().ok());
  lister_.Answer(ListOf({}));
  const auto empty = RunSweep();
  ASSERT_TRUE(empty.ok());
  EXPECT_FALSE(empty->complete);
  ASSERT_EQ(progress_.warnings.size(), 1u);
  EXPECT_NE(progress_.warnings.front().find("hub.author"), std::string::npos);
  EXPECT_EQ(published_.back().first->models.size(), 2u);
  EXPECT_EQ(store_->FindSweep("latest")->id, progress_.finished.front().id);
  ExpectFoldEqualsHistory();
}

TEST_F(ServeTest, StartsOneSweepForAllIntervalsThatPassedDuringASweep) {
  options_.sweep_interval = seconds(100);
  // Both intervals end during the first sweep: that at 100 passes, and the next sweeps are short.
  runner_.on_start = [this](const CaptureJob&) {
    runner_.capture_takes = seconds(runner_.started.size() < 2 ? 125 : 1);
  };
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 3; }).ok());
  const auto starts = Starts();
  ASSERT_EQ(starts.size(), 3u);
  EXPECT_GT(starts[1], 100);
  EXPECT_EQ(starts[1] % 125, 0);
  EXPECT_EQ(starts[2] % 100, 0);
  EXPECT_LE(starts[2] - starts[1], 100);
}

TEST_F(ServeTest, StartsOneSweepForAllRequestsDuringASweep) {
  each_wait_ = [this] {
    if (progress_.started.size() == 2 && asked_times_ < 20) Ask("during-" + std::to_string(asked_times_++));
  };
  Ask("first");
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 2 && clock_.Steady() > begun_; }).ok());
  EXPECT_EQ(Finished(), 2u);
  std::set<std::string> sweeps;
  for (const auto& [command, sweep] : progress_.accepted) sweeps.insert(sweep);
  EXPECT_EQ(sweeps.size(), 2u);
  EXPECT_EQ(progress_.accepted.front().first, "first");
  EXPECT_GT(progress_.accepted.size(), 2u);
}

TEST_F(ServeTest, StartsASeparateSweepForARequestOfNamedModels) {
  SweepRequest named;
  named.list.ids = {"c", "d"};
  each_wait_ = [this, named] {
    if (!progress_.started.empty() && asked_times_ == 0) {
      ++asked_times_;
      Ask("list");
      Ask("named", named);
    }
  };
  Ask("first");
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 3; }).ok());
  EXPECT_EQ(lister_.Requests().back().ids, named.list.ids);
}

TEST_F(ServeTest, CancelsWhatWaitsAndWhatRuns) {
  SweepRequest named;
  named.list.ids = {"c", "d"};
  each_wait_ = [this, named] {
    if (progress_.started.empty() || asked_times_++ > 0) return;
    Ask("waiting", named);
    Cancel("waiting");
    Cancel("first");
  };
  Ask("first");
  ASSERT_TRUE(ServeUntil([this] { return !progress_.served.empty(); }).ok());
  EXPECT_EQ(progress_.refused, (std::vector{std::pair<std::string, ErrorCode>{"waiting", ErrorCode::kInterrupted}}));
  ASSERT_EQ(progress_.failed.size(), 1u);
  EXPECT_EQ(progress_.failed[0].code, ErrorCode::kInterrupted);
  EXPECT_EQ(progress_.served[0].first, "first");
  EXPECT_EQ(store_->Sweeps(1)->front().state, SweepState::kInterrupted);
}

TEST_F(ServeTest, ASweepGoesOnForTheRequestThatIsNotCancelled) {
  each_wait_ = [this] {
    if (!progress_.started.empty() && asked_times_++ == 0) Cancel("first");
  };
  Ask("first");
  Ask("second");
  ASSERT_TRUE(ServeUntil([this] { return progress_.served.size() >= 2; }).ok());
  EXPECT_EQ(progress_.served[0], (std::pair<std::string, std::string>("first", "cancelled")));
  EXPECT_EQ(Finished(), 1u);
}

TEST_F(ServeTest, WaitsQuietlyWithoutAnInterval) {
  int waits = 0;
  ASSERT_TRUE(ServeUntil([&] { return ++waits == 1; }).ok());
  EXPECT_EQ(waits, 1);
  EXPECT_TRUE(store_->Sweeps(10)->empty());
}

TEST_F(ServeTest, KeepsTheRhythmOverARestart) {
  options_.sweep_interval = seconds(1000);
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 1; }).ok());
  stopped_ = false;
  clock_.Advance(seconds(400));
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 2; }).ok());
  EXPECT_EQ(Starts(), (Starts_{0, 1000}));
}

TEST_F(ServeTest, PublishesWhenTheNextSweepIsDue) {
  options_.sweep_interval = seconds(1000);
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 2; }).ok());
  EXPECT_EQ(published_.back().first->sweep.next_due, first_start_ + seconds(2000));
  EXPECT_TRUE(published_.back().second) << "an exporter must not hold it back until the end of the next sweep";
  EXPECT_EQ(published_.back().first->sweep.interval, seconds(1000));
  stopped_ = false;
  published_.clear();
  clock_.Advance(seconds(10));
  ASSERT_TRUE(ServeUntil([] { return true; }).ok());
  ASSERT_EQ(published_.size(), 1u) << "a restarted daemon knows it before its first sweep";
  EXPECT_EQ(published_.back().first->sweep.next_due, first_start_ + seconds(2000));
}

TEST_F(ServeTest, PublishesNoNextSweepOnceTheIntervalIsTakenAway) {
  options_.sweep_interval = seconds(1000);
  each_wait_ = [this] {
    if (Finished() != 1 || asked_) return;
    asked_ = true;
    options_.sweep_interval.reset();
    Command reload;
    reload.kind = Command::Kind::kReload;
    ASSERT_TRUE(commands_.Push(reload));
  };
  int waits = 0;
  ASSERT_TRUE(ServeUntil([&] { return asked_ && ++waits == 2; }).ok());
  EXPECT_EQ(published_.back().first->sweep.next_due, SystemTime{});
  EXPECT_EQ(published_.back().first->sweep.interval, seconds(0));
}

TEST_F(ServeTest, ResumesAnUnfinishedSweepFirst) {
  runner_.on_wait = [this] {
    if (progress_.results.size() == 1 && !asked_) asked_ = true, Stop();
  };
  ASSERT_FALSE(RunSweep().ok());
  const std::string id = (*store_->NewestUnfinished())->id;
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 1; }).ok());
  EXPECT_EQ(progress_.finished[0].id, id);
  EXPECT_EQ(lister_.Requests().size(), 1u);
}

TEST_F(ServeTest, StartsANewSweepIfTheUnfinishedOneCannotBeResumed) {
  class TornOnce : public fakes::SweepStoreWrapper {
   public:
    using SweepStoreWrapper::SweepStoreWrapper;
    Result<Plan> LoadPlan(const std::string& sweep_id) override {
      auto plan = SweepStoreWrapper::LoadPlan(sweep_id);
      if (plan && (torn.empty() || torn == sweep_id)) torn = sweep_id, plan->models.pop_back();
      return plan;
    }
    std::string torn;
  } torn(*store_);
  runner_.on_wait = [this] {
    if (progress_.results.size() == 1 && !asked_) asked_ = true, Stop();
  };
  ASSERT_FALSE(RunSweep().ok());
  const std::string id = (*store_->NewestUnfinished())->id;
  options_.sweep_interval = seconds(100'000);
  ASSERT_TRUE(ServeUntil(torn, [this] { return Finished() >= 1; }).ok());
  EXPECT_NE(progress_.finished[0].id, id);
  EXPECT_EQ(store_->Sweeps(10)->size(), 2u);
  EXPECT_FALSE(store_->NewestUnfinished()->has_value());
}

TEST_F(ServeTest, StopsInTheMiddleOfASweep) {
  Ask("first");
  ASSERT_TRUE(ServeUntil([this] { return progress_.results.size() == 1; }).ok());
  EXPECT_EQ(Finished(), 0u);
  EXPECT_EQ(runner_.stops, 1);
  EXPECT_TRUE(store_->NewestUnfinished()->has_value());
}

TEST_F(ServeTest, UsesReloadedSettingsForTheNextSweep) {
  Ask("first");
  reload_ = [this] {
    LoopOptions options = options_;
    options.limits.rss_bytes = 77;
    return Result<LoopOptions>(options);
  };
  each_wait_ = [this] {
    if (Finished() == 1 && asked_times_ == 0) {
      ++asked_times_;
      Command reload;
      reload.kind = Command::Kind::kReload;
      reload.id = "r1";
      ASSERT_TRUE(commands_.Push(reload));
      SweepRequest again;
      again.rebuild = Rebuild::kAlways;
      Ask("second", again);
    }
  };
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 2; }).ok());
  EXPECT_NE(runner_.started.front().limits.rss_bytes, 77);
  EXPECT_EQ(runner_.started.back().limits.rss_bytes, 77);
  EXPECT_EQ(EventCounts()["config_reloaded"], 1);
  EXPECT_THAT(progress_.served, ::testing::Contains(std::pair<std::string, std::string>("r1", "")));
}

TEST_F(ServeTest, KeepsTheOldSettingsAndReportsWhyWhenAReloadIsRejected) {
  reload_ = [] { return Result<LoopOptions>(Error{ErrorCode::kConfig, "line 3: unknown key"}); };
  Command reload;
  reload.kind = Command::Kind::kReload;
  ASSERT_TRUE(commands_.Push(reload));
  ASSERT_TRUE(ServeUntil([] { return true; }).ok());
  ASSERT_EQ(progress_.warnings.size(), 1u);
  EXPECT_NE(progress_.warnings[0].find("line 3: unknown key"), std::string::npos);
  EXPECT_EQ(EventCounts()["config_reload_refused"], 1);
}

TEST_F(ServeTest, RetriesAFailedSweepWithGrowingPauses) {
  fakes::FakeModelLister away;
  options_.sweep_interval = seconds(100'000);
  std::vector<std::int64_t> failures;
  Loop loop(LoopParts{.sweeps = *store_,
                      .event_log = *store_,
                      .current = *store_,
                      .lister = away,
                      .runner = runner_,
                      .clock = clock_,
                      .progress = progress_,
                      .commands = commands_},
            options_);
  runner_.on_wait = [&] {
    while (failures.size() < progress_.failed.size()) {
      failures.push_back(std::chrono::duration_cast<seconds>(clock_.Steady() - begun_).count());
    }
    if (failures.size() == 4 && !stopped_) stopped_ = true, Stop();
  };
  ASSERT_TRUE(loop.Serve().ok());
  EXPECT_EQ(failures, (std::vector<std::int64_t>{0, 60, 180, 420}));
}

TEST_F(ServeTest, ContinuesASweepAfterAStoreError) {
  class FullOnce : public fakes::SweepStoreWrapper {
   public:
    using SweepStoreWrapper::SweepStoreWrapper;
    Result<void> AppendResults(std::span<const store::ResultWrite> writes) override {
      if (++times_ == 2) return Error{ErrorCode::kStore, "disk full"};
      return SweepStoreWrapper::AppendResults(writes);
    }
    int times_ = 0;
  } full(*store_);
  Ask("first");
  ASSERT_TRUE(ServeUntil(full, [this] { return Finished() >= 1; }).ok());
  EXPECT_EQ(store_->Sweeps(10)->size(), 1u);
  EXPECT_EQ(progress_.failed.size(), 1u);
  EXPECT_EQ(Statuses(progress_.finished[0].id).size(), 2u);
}

TEST_F(ServeTest, ReportsToTheRequesterThatThereIsNothingToResume) {
  SweepRequest resume;
  resume.resume = true;
  Ask("first", resume);
  ASSERT_TRUE(ServeUntil([this] { return !progress_.failed.empty(); }).ok());
  EXPECT_EQ(progress_.refused, (std::vector<std::pair<std::string, ErrorCode>>{{"first", ErrorCode::kNotFound}}));
}

TEST_F(ServeTest, ReportsToTheRequesterThatTooManyDifferentSweepsWait) {
  for (int i = 0; i < 17; ++i) {
    SweepRequest request;
    request.list.top = 100 + i;
    Ask("request-" + std::to_string(i), request);
  }
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 1; }).ok());
  ASSERT_EQ(progress_.refused.size(), 1u);
  EXPECT_EQ(progress_.refused[0].first, "request-16");
}

TEST_F(ServeTest, StopsZygotesBetweenSweepsIfConfigured) {
  options_.release_when_idle = true;
  Ask("first");
  ASSERT_TRUE(ServeUntil([this] { return Finished() >= 1; }).ok());
  EXPECT_GE(runner_.stops, 1);
}

}  // namespace
}  // namespace breakwatch::engine
