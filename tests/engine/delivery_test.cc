#include "breakwatch/engine/delivery.h"

#include "engine/delivery_fixture.h"
#include "fakes/event_log_wrapper.h"

namespace breakwatch::engine {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// --- snapshots

TEST_F(DeliveryTest, SendsASnapshotOnce) {
  FakeMetricExporter& metrics = AddMetrics();
  Publish("one");
  Run(hours(1));
  ASSERT_EQ(metrics.delivered.size(), 1u);
  EXPECT_EQ(metrics.delivered[0].sweep.sweep_id, "one");
  EXPECT_TRUE(Pump().Behind().empty());
}

TEST_F(DeliveryTest, SendsTheLatestSnapshotAndNeverAnOlderOne) {
  FakeMetricExporter& metrics = AddMetrics();
  metrics.down = true;
  for (int i = 0; i < 50; ++i) Publish(std::to_string(i)), Run(seconds(10));
  metrics.down = false;
  Run(hours(1));
  ASSERT_EQ(metrics.delivered.size(), 1u);
  EXPECT_EQ(metrics.delivered[0].sweep.sweep_id, "49");
}

TEST_F(DeliveryTest, HoldsSnapshotsToTheIntervalAndUrgentOnesNot) {
  FakeMetricExporter& metrics = AddMetrics();
  Publish("one");
  Run();
  Publish("two");
  Run(seconds(29));
  EXPECT_EQ(metrics.delivered.size(), 1u);
  Run(seconds(2));
  EXPECT_EQ(metrics.delivered.size(), 2u);
  Publish("three", /*urgent=*/true);
  Run();
  EXPECT_EQ(metrics.delivered.size(), 3u);
}

TEST_F(DeliveryTest, RetriesWithGrowingPausesUpToABound) {
  FakeMetricExporter& metrics = AddMetrics();
  metrics.down = true;
  Publish("one");
  Run(hours(72));
  // Half to all of a minute between attempts, after the pauses have grown.
  EXPECT_GT(metrics.attempts, 72 * 60);
  EXPECT_LT(metrics.attempts, 72 * 120 + 20);
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"metrics"}));
  EXPECT_EQ(StatsOf("metrics").failures, metrics.attempts);
  metrics.down = false;
  Run(seconds(61));
  EXPECT_EQ(metrics.delivered.size(), 1u);
  EXPECT_EQ(reports_, (std::vector<std::string>{"metrics: failed, will retry: away", "metrics: works again"}));
}

Outcome WrongPassword() {
  Outcome outcome{Delivery::kTryAgain, "401, wrong password", milliseconds(60'000)};
  outcome.needs_person = true;
  return outcome;
}

// A server that was down first must not hide it.
TEST_F(DeliveryTest, ReportsAWrongPasswordOnceAndRetriesSlowly) {
  FakeMetricExporter& metrics = AddMetrics();
  FakeEventExporter& events = AddEvents();
  for (auto* answers : {&metrics.answers, &events.answers}) {
    answers->assign(1, {Delivery::kTryAgain, "away", {}});
    answers->insert(answers->end(), 1000, WrongPassword());
  }
  Publish("one");
  Store(1);
  Run(hours(1));
  for (const int attempts : {metrics.attempts, events.attempts}) {
    EXPECT_GE(attempts, 30);
    EXPECT_LE(attempts, 62);
  }
  std::ranges::sort(reports_);
  EXPECT_EQ(reports_, (std::vector<std::string>{
                          "events: failed, will retry: 401, wrong password", "events: failed, will retry: away",
                          "metrics: failed, will retry: 401, wrong password", "metrics: failed, will retry: away"}));
  metrics.answers.clear();
  Run(minutes(2));
  EXPECT_EQ(reports_.back(), "metrics: works again");
  metrics.answers = {WrongPassword()};
  Publish("two", true);
  Run(minutes(2));
  EXPECT_EQ(reports_.back(), "metrics: works again");
  EXPECT_EQ(reports_[5], "metrics: failed, will retry: 401, wrong password") << "a new failure";
}

TEST_F(DeliveryTest, ReportsAFewAnswersThatDifferEachTime) {
  FakeMetricExporter& metrics = AddMetrics();
  for (int i = 0; i < 100; ++i) {
    metrics.answers.push_back(WrongPassword());
    metrics.answers.back().detail += " " + std::to_string(i);
  }
  Publish("one");
  Run(hours(1));
  EXPECT_EQ(reports_.size(), 4u);
}

TEST_F(DeliveryTest, ReportsWhatACheckOfTheTargetFound) {
  FakeMetricExporter& metrics = AddMetrics();
  Publish("one");
  Run(seconds(1));
  metrics.notice = "another daemon pushes to this group";
  Run(hours(1));
  EXPECT_EQ(reports_, (std::vector<std::string>{"metrics: another daemon pushes to this group"}));
  EXPECT_EQ(metrics.attempts, 1);
}

TEST_F(DeliveryTest, WaitsAsLongAsTheResponseRequests) {
  FakeMetricExporter& metrics = AddMetrics();
  metrics.answers = {{Delivery::kTryAgain, "slow down", milliseconds(120'000)}};
  Publish("one");
  Run(seconds(119));
  Pump().Hurry();
  Run();
  EXPECT_EQ(metrics.attempts, 1);
  Run(seconds(1));
  EXPECT_EQ(metrics.attempts, 2);
}

TEST_F(DeliveryTest, DropsARefusedSnapshotAndSendsTheNext) {
  FakeMetricExporter& metrics = AddMetrics();
  metrics.answers = {{Delivery::kRefused, "400: inconsistent", {}}};
  Publish("bad", true);
  Run(hours(1));
  EXPECT_EQ(metrics.attempts, 1);
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"metrics"}));
  EXPECT_TRUE(Pump().Pending().empty());
  Publish("good", true);
  Run();
  EXPECT_EQ(metrics.delivered.size(), 1u);
  EXPECT_TRUE(Pump().Behind().empty());
}

TEST_F(DeliveryTest, SendsAgainWhenTheTargetLostItsState) {
  FakeMetricExporter& metrics = AddMetrics();
  Publish("one");
  Run(seconds(5));
  metrics.lost = true;
  Run(seconds(15));
  ASSERT_EQ(metrics.delivered.size(), 2u);
  EXPECT_EQ(metrics.delivered[1].sweep.sweep_id, "one");
  Run(hours(1));
  EXPECT_EQ(metrics.delivered.size(), 2u);
}

TEST_F(DeliveryTest, RepeatsTheLatestSnapshotToATargetThatForgets) {
  FakeMetricExporter& metrics = AddMetrics();
  metrics.repeat_every = minutes(1);
  Publish("one");
  Run(seconds(59));
  EXPECT_EQ(metrics.delivered.size(), 1u);
  Run(seconds(1));
  ASSERT_EQ(metrics.delivered.size(), 2u);
  EXPECT_EQ(metrics.delivered[1].sweep.sweep_id, "one");
  Publish("two", /*urgent=*/true);
  Run(minutes(10));
  ASSERT_EQ(metrics.delivered.size(), 13u);
  EXPECT_EQ(metrics.delivered.back().sweep.sweep_id, "two");
  EXPECT_TRUE(Pump().Behind().empty());
}

TEST_F(DeliveryTest, RetriesARepetitionThatFailed) {
  FakeMetricExporter& metrics = AddMetrics();
  metrics.repeat_every = minutes(1);
  Publish("one");
  Run();
  metrics.down = true;
  Run(minutes(5));
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"metrics"}));
  metrics.down = false;
  Run(minutes(2));
  EXPECT_GE(metrics.delivered.size(), 2u);
  EXPECT_TRUE(Pump().Behind().empty());
}

TEST_F(DeliveryTest, ReportsARefusalThatIsRepeatedOnceInAnHour) {
  FakeMetricExporter& metrics = AddMetrics();
  metrics.repeat_every = minutes(1);
  for (int i = 0; i < 90; ++i) metrics.answers.push_back({Delivery::kRefused, "limit " + std::to_string(i), {}});
  Publish("one");
  Run(minutes(89));
  EXPECT_EQ(metrics.attempts, 90);
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"metrics"}));
  Run(minutes(1));
  EXPECT_TRUE(Pump().Behind().empty()) << "the same snapshot was accepted";
  EXPECT_EQ(reports_, (std::vector<std::string>{"metrics: refused the snapshot: limit 0",
                                                "metrics: refused the snapshot: limit 60", "metrics: works again"}));
}

TEST_F(DeliveryTest, PutsTheStateOfAllExportersIntoEverySnapshot) {
  FakeMetricExporter& metrics = AddMetrics();
  AddEvents().down = true;
  Store(3);
  Run(seconds(10));
  Publish("one");
  Run();
  ASSERT_EQ(metrics.delivered.size(), 1u);
  const auto& delivery = metrics.delivered[0].delivery;
  ASSERT_EQ(delivery.size(), 2u);
  EXPECT_EQ(delivery[1].exporter, "events");
  EXPECT_EQ(delivery[1].events_pending, 3);
  // From the last attempt, whose time has jitter.
  EXPECT_GE(delivery[1].oldest_age, milliseconds(1000));
  EXPECT_GT(delivery[1].failures, 0);
}

TEST_F(DeliveryTest, PutsNoStateIntoSnapshotsOfAProcessThatShowsItItself) {
  options_.stats_in_snapshots = false;
  FakeMetricExporter& metrics = AddMetrics();
  AddEvents();
  Store(3);
  Publish("one");
  Run();
  ASSERT_EQ(metrics.delivered.size(), 1u);
  EXPECT_TRUE(metrics.delivered[0].delivery.empty());
}

TEST_F(DeliveryTest, KnowsWhenASnapshotWasLastNotAccepted) {
  FakeMetricExporter& metrics = AddMetrics();
  Publish("one");
  Run();
  EXPECT_EQ(StatsOf("metrics").last_failure, SystemTime{});
  metrics.down = true;
  Publish("two");
  Run(hours(1));
  const SystemTime failed = StatsOf("metrics").last_failure;
  EXPECT_GE(failed, clock_.Now() - minutes(2));
  metrics.down = false;
  Run(minutes(2));
  EXPECT_EQ(StatsOf("metrics").last_failure, failed);
  EXPECT_GT(StatsOf("metrics").last_success, failed);
}

TEST_F(DeliveryTest, LetsNoDeadExporterDelayAnother) {
  AddMetrics("dead").down = true;
  FakeMetricExporter& alive = AddMetrics("alive");
  AddEvents("dead events").down = true;
  FakeEventExporter& events = AddEvents("live events");
  Store(5);
  Publish("one");
  Run();
  EXPECT_EQ(alive.delivered.size(), 1u);
  EXPECT_EQ(events.delivered.size(), 5u);
  Run(hours(1));
  Publish("two", true);
  Store(1);
  Run();
  EXPECT_EQ(alive.delivered.size(), 2u);
  EXPECT_EQ(events.delivered.size(), 6u);
}

TEST_F(DeliveryTest, DoesNotCallAnOptionalExporterBehind) {
  AddMetrics("optional", false).down = true;
  AddEvents("optional events", {.required = false}).down = true;
  Store(1);
  Publish("one");
  Run(seconds(10));
  EXPECT_TRUE(Pump().Behind().empty());
}

// --- the store

// Fails the calls that a test selects.
class FailingLog : public fakes::EventLogWrapper {
 public:
  using EventLogWrapper::EventLogWrapper;
  Result<void> SetCursor(const std::string& exporter, std::int64_t id) override {
    if (fails) return Error{ErrorCode::kStore, "database is locked", true};
    return EventLogWrapper::SetCursor(exporter, id);
  }
  Result<std::int64_t> NewestEventId() override {
    if (fails) return Error{ErrorCode::kStore, "database is locked", true};
    return EventLogWrapper::NewestEventId();
  }
  bool fails = false;
};

TEST_F(DeliveryTest, DoesNotSendEventsAgainIfTheCursorCouldNotBeStored) {
  FailingLog log(*store_);
  pump_ = std::make_unique<DeliveryPump>(log, clock_, options_);
  FakeEventExporter& events = AddEvents();
  FakeMetricExporter& metrics = AddMetrics();
  Store(3);
  Run();
  log.fails = true;
  Store(2);
  Publish("one");
  Run(hours(1));
  EXPECT_EQ(metrics.delivered.size(), 1u);
  log.fails = false;
  Run(seconds(61));
  EXPECT_EQ(Ids(events), UpTo(5));
  EXPECT_EQ(*store_->Cursor("events"), 5);
}

TEST_F(DeliveryTest, SendsEventsWhereTheQueuedLettersCannotBeRead) {
  class WithoutLetters : public fakes::EventLogWrapper {
   public:
    using EventLogWrapper::EventLogWrapper;
    Result<std::int64_t> CountQueuedLetters(const std::string&) override { return 1; }
    Result<std::vector<StoredEvent>> QueuedLetters(const std::string&, int, std::size_t) override {
      return std::vector<StoredEvent>();
    }
  } log(*store_);
  pump_ = std::make_unique<DeliveryPump>(log, clock_, options_);
  FakeEventExporter& events = AddEvents();
  Store(3);
  Run();
  EXPECT_EQ(Ids(events), UpTo(3));
  EXPECT_TRUE(Pump().Pending().empty());
}

TEST_F(DeliveryTest, SendsSnapshotsWithoutAStoreAndEventsWhenItOpens) {
  bool there = false;
  pump_ = std::make_unique<DeliveryPump>(
      [&]() -> Result<std::unique_ptr<store::EventLog>> {
        if (!there) return Error{ErrorCode::kStore, "no such file", true};
        return std::unique_ptr<store::EventLog>(OpenStoreAt(folder_.Url(), clock_));
      },
      clock_, options_);
  FakeMetricExporter& metrics = AddMetrics();
  FakeEventExporter& events = AddEvents();
  Store(4);
  Publish("one");
  Run(hours(1));
  EXPECT_EQ(metrics.delivered.size(), 1u);
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"events"}));
  there = true;
  Run(seconds(61));
  EXPECT_EQ(Ids(events), UpTo(4));
}

}  // namespace
}  // namespace breakwatch::engine
