#include "breakwatch/engine/delivery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/support.h"
#include "event_channel.h"
#include "fakes/fake_exporters.h"
#include "fakes/store_wrapper.h"

namespace breakwatch::engine {
namespace {

using fakes::FakeEventExporter;
using fakes::FakeMetricExporter;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class DeliveryTest : public ::testing::Test {
 protected:
  DeliveryTest() {
    options_.report = [this](Level, std::string_view exporter, std::string_view text) {
      reports_.push_back(std::string(exporter) + ": " + std::string(text));
    };
  }

  DeliveryPump& Pump() {
    if (!pump_) pump_ = std::make_unique<DeliveryPump>(*store_, clock_, options_);
    return *pump_;
  }
  FakeMetricExporter& AddMetrics(const std::string& name = "metrics", bool required = true) {
    auto exporter = std::make_unique<FakeMetricExporter>(name);
    FakeMetricExporter& kept = *exporter;
    Pump().Add(std::move(exporter), required);
    return kept;
  }
  FakeEventExporter& AddEvents(const std::string& name = "events", bool required = true) {
    auto exporter = std::make_unique<FakeEventExporter>(name);
    FakeEventExporter& kept = *exporter;
    Pump().Add(std::move(exporter), required);
    return kept;
  }
  void Store(int n) {
    std::vector<Event> events(static_cast<std::size_t>(n));
    for (Event& event : events) event.name = "tick";
    ASSERT_TRUE(store_->AppendEvents(events).ok());
  }
  void Publish(const std::string& sweep, bool urgent = false) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->sweep.sweep_id = sweep;
    Pump().SetSnapshot(snapshot, urgent);
  }
  // Steps while something is due within `time`, moving the clock to it.
  void Run(std::chrono::nanoseconds time = std::chrono::nanoseconds(0)) {
    const SteadyTime end = clock_.Steady() + std::chrono::duration_cast<SteadyTime::duration>(time);
    for (int i = 0; i < 100'000; ++i) {
      const SteadyTime next = Pump().Step();
      if (next > end) {
        clock_.AdvanceTo(end);
        return;
      }
      clock_.AdvanceTo(next);
    }
    FAIL() << "the pump never rests";
  }
  static std::vector<std::int64_t> Ids(const FakeEventExporter& exporter) {
    std::vector<std::int64_t> ids;
    for (const StoredEvent& event : exporter.delivered) ids.push_back(event.id);
    return ids;
  }
  static std::vector<std::int64_t> UpTo(std::int64_t n) {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 1; i <= n; ++i) ids.push_back(i);
    return ids;
  }
  DeliveryStats StatsOf(const std::string& exporter) {
    for (const DeliveryStats& stats : Pump().Stats()) {
      if (stats.exporter == exporter) return stats;
    }
    ADD_FAILURE() << exporter;
    return {};
  }

  TempFolder folder_;
  fakes::FakeClock clock_;
  std::unique_ptr<store::Store> store_ = OpenStoreAt(folder_.Url(), clock_);
  DeliveryOptions options_;
  std::unique_ptr<DeliveryPump> pump_;
  std::vector<std::string> reports_;
};

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

TEST_F(DeliveryTest, TriesAgainWithGrowingPausesUpToABound) {
  FakeMetricExporter& metrics = AddMetrics();
  metrics.down = true;
  Publish("one");
  Run(hours(72));
  // Half to all of a minute between tries, once the pauses have grown.
  EXPECT_GT(metrics.attempts, 72 * 60);
  EXPECT_LT(metrics.attempts, 72 * 120 + 20);
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"metrics"}));
  EXPECT_EQ(StatsOf("metrics").failures, metrics.attempts);
  metrics.down = false;
  Run(seconds(61));
  EXPECT_EQ(metrics.delivered.size(), 1u);
  EXPECT_EQ(reports_, (std::vector<std::string>{"metrics: failed, will try again: away", "metrics: works again"}));
}

TEST_F(DeliveryTest, WaitsAsLongAsThePeerSays) {
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
  // As of the last try, whose moment is jittered.
  EXPECT_GE(delivery[1].oldest_age, milliseconds(1000));
  EXPECT_GT(delivery[1].failures, 0);
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
  AddEvents("optional events", false).down = true;
  Store(1);
  Publish("one");
  Run(seconds(10));
  EXPECT_TRUE(Pump().Behind().empty());
}

// --- events

TEST_F(DeliveryTest, SendsEventsInOrderInBatches) {
  options_.batch_events = 7;
  FakeEventExporter& events = AddEvents();
  Store(50);
  Run();
  EXPECT_EQ(Ids(events), UpTo(50));
  EXPECT_EQ(events.attempts, 8);
  EXPECT_EQ(*store_->Cursor("events"), 50);
  EXPECT_EQ(StatsOf("events").events_pending, 0);
}

TEST_F(DeliveryTest, GoesOnAfterTheCursorOfAnEarlierLife) {
  Store(10);
  ASSERT_TRUE(store_->SetCursor("events", 6).ok());
  FakeEventExporter& events = AddEvents();
  Run();
  EXPECT_EQ(Ids(events), (std::vector<std::int64_t>{7, 8, 9, 10}));
}

TEST_F(DeliveryTest, KeepsEverythingThroughAnOutageOfThreeDays) {
  FakeEventExporter& events = AddEvents();
  events.down = true;
  for (int hour = 0; hour < 72; ++hour) Store(10), Run(hours(1));
  EXPECT_EQ(StatsOf("events").events_pending, 720);
  EXPECT_GE(StatsOf("events").oldest_age, hours(71));
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"events"}));
  events.down = false;
  Run(seconds(61));
  EXPECT_EQ(Ids(events), UpTo(720));
  EXPECT_TRUE(Pump().Behind().empty());
}

TEST_F(DeliveryTest, ResendsTheSameBytesInTheSameBatch) {
  FakeEventExporter& events = AddEvents();
  events.answers = {{Delivery::kTryAgain, "500", {}}};
  Store(3);
  Run();
  Store(2);
  Run(seconds(1));
  EXPECT_EQ(events.attempts, 3);
  EXPECT_EQ(Ids(events), UpTo(5));
}

TEST_F(DeliveryTest, BuriesThePoisonEventAloneAndSendsTheRest) {
  FakeEventExporter& events = AddEvents();
  events.poison = [](const StoredEvent& event) { return event.id == 42; };
  Store(100);
  Run();
  auto expected = UpTo(100);
  expected.erase(expected.begin() + 41);
  EXPECT_EQ(Ids(events), expected);
  const auto dead = store_->DeadLetters({.exporter = "events"}, 10);
  ASSERT_EQ(dead->size(), 1u);
  EXPECT_EQ(dead->front().event.id, 42);
  EXPECT_EQ(dead->front().reason, "refused event 42");
  EXPECT_EQ(StatsOf("events").dead_letters, 1);
  EXPECT_EQ(*store_->Cursor("events"), 100);
  EXPECT_TRUE(Pump().Pending().empty());
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"events"}));
}

TEST_F(DeliveryTest, IsolatesACulpritInLogarithmicallyManySends) {
  for (const int size : {1, 2, 3, 8, 100, 1000}) {
    for (const int culprit : {1, size / 2 + 1, size}) {
      const std::int64_t before = *store_->NewestEventId();
      const std::string name = "events-" + std::to_string(size) + "-" + std::to_string(culprit);
      ASSERT_TRUE(store_->SetCursor(name, before).ok());
      pump_.reset();
      FakeEventExporter& events = AddEvents(name);
      events.poison = [&](const StoredEvent& event) { return event.id == before + culprit; };
      Store(size);
      Run();
      EXPECT_EQ(static_cast<int>(events.delivered.size()), size - 1) << name;
      // The whole, the search, and what is left after the culprit.
      EXPECT_LE(events.attempts, 1 + std::ceil(std::log2(size)) + 1 + 1) << name;
    }
  }
}

TEST_F(DeliveryTest, PausesAndGivesNothingUpWhileEveryEventIsRefused) {
  FakeEventExporter& events = AddEvents();
  bool broken = true;
  events.poison = [&](const StoredEvent&) { return broken; };
  Store(500);
  Run();
  EXPECT_EQ(*store_->CountDeadLetters("events"), 0);
  EXPECT_TRUE(StatsOf("events").paused);
  EXPECT_EQ(StatsOf("events").events_pending, 500);
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"events"}));
  const auto states = store_->DeliveryStates();
  ASSERT_EQ(states->size(), 1u);
  EXPECT_EQ(states->front().paused, "refused event 64");
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0],
            "events: paused: refuses every event (64 were tried alone), so none is given up; will try again: refused "
            "event 64");
  // With growing pauses, and without another search through the batch.
  const int before = events.attempts;
  Run(hours(1));
  EXPECT_LT(events.attempts - before, 130 * static_cast<int>(EventChannel::kTriedAlone + 1));
  EXPECT_EQ(reports_.size(), 1u);
  broken = false;
  Run(seconds(61));
  EXPECT_EQ(Ids(events), UpTo(500));
  EXPECT_FALSE(StatsOf("events").paused);
  EXPECT_EQ(store_->DeliveryStates()->front().paused, "");
  EXPECT_TRUE(Pump().Behind().empty());
}

TEST_F(DeliveryTest, KnowsThatAnEarlierLifePausedAndGoesOnOnceSomethingIsTaken) {
  ASSERT_TRUE(store_->SetPaused("events", "400").ok());
  FakeEventExporter& events = AddEvents();
  Store(3);
  EXPECT_FALSE(StatsOf("events").paused);
  Run();
  EXPECT_EQ(Ids(events), UpTo(3));
  EXPECT_EQ(store_->DeliveryStates()->front().paused, "");
}

TEST_F(DeliveryTest, GivesNothingUpWhenTheTargetRecoversBetweenTwoAttempts) {
  FakeEventExporter& events = AddEvents();
  bool broken = true;
  int attempts = 0;  // at the first event: in its batch and by itself, both before the target recovered
  events.poison = [&](const StoredEvent& event) { return broken || (event.id == 1 && ++attempts <= 2); };
  Store(3);
  Run();
  ASSERT_TRUE(StatsOf("events").paused);
  broken = false;
  Run(seconds(61));
  EXPECT_EQ(*store_->CountDeadLetters("events"), 0);
  const auto ids = Ids(events);
  EXPECT_EQ(std::set<std::int64_t>(ids.begin(), ids.end()), (std::set<std::int64_t>{1, 2, 3}));
  EXPECT_FALSE(StatsOf("events").paused);
}

TEST_F(DeliveryTest, BuriesTheFirstOnesOnlyOnceALaterOneIsTaken) {
  FakeEventExporter& events = AddEvents();
  events.poison = [](const StoredEvent& event) { return event.id <= 5 || event.id == 50; };
  Store(60);
  Run();
  EXPECT_EQ(*store_->CountDeadLetters("events"), 6);
  EXPECT_EQ(events.delivered.size(), 54u);
  EXPECT_EQ(events.delivered.front().id, 6);
  EXPECT_EQ(*store_->Cursor("events"), 60);
  EXPECT_FALSE(StatsOf("events").paused);
}

TEST_F(DeliveryTest, BuriesWhatAnAnswerNamesThoughNothingIsTaken) {
  FakeEventExporter& events = AddEvents();
  events.poison = [](const StoredEvent&) { return true; };
  events.names_events = true;
  Store(20);
  Run();
  EXPECT_EQ(*store_->CountDeadLetters("events"), 20);
  EXPECT_FALSE(StatsOf("events").paused);
}

TEST_F(DeliveryTest, SendsQueuedLettersFirstInOrderWithTheirIds) {
  Store(6);
  for (const StoredEvent& event : *store_->EventsAfter(0, 4, 1 << 20)) {
    ASSERT_TRUE(store_->BuryEvent("events", event, "400").ok());
  }
  FakeEventExporter& events = AddEvents();
  Run();
  EXPECT_EQ(Ids(events), (std::vector<std::int64_t>{5, 6}));
  ASSERT_EQ(*store_->QueueDeadLetters({"events", {4, 2}}), 2);
  Store(1);
  Run();
  EXPECT_EQ(Ids(events), (std::vector<std::int64_t>{5, 6, 2, 4, 7}));
  EXPECT_EQ(*store_->CountDeadLetters("events"), 2);
  EXPECT_EQ(*store_->CountQueuedLetters("events"), 0);
  EXPECT_EQ(*store_->Cursor("events"), 7);
  EXPECT_EQ(StatsOf("events").dead_letters, 2);
}

TEST_F(DeliveryTest, LetsALetterThatIsRefusedAgainBeDeadAgainAndPausesNothing) {
  Store(3);
  for (const StoredEvent& event : *store_->EventsAfter(0, 2, 1 << 20)) {
    ASSERT_TRUE(store_->BuryEvent("events", event, "old answer").ok());
  }
  ASSERT_EQ(*store_->QueueDeadLetters({}), 2);
  FakeEventExporter& events = AddEvents();
  events.poison = [](const StoredEvent& event) { return event.id <= 2; };
  Run();
  EXPECT_EQ(Ids(events), (std::vector<std::int64_t>{3}));
  const auto dead = store_->DeadLetters({.exporter = "events"}, 10);
  ASSERT_EQ(dead->size(), 2u);
  EXPECT_FALSE((*dead)[0].queued);
  EXPECT_EQ((*dead)[0].reason, "refused event 1");
  EXPECT_FALSE(StatsOf("events").paused);
}

TEST_F(DeliveryTest, SendsLettersThatAreAllRefusedAgainHardlyMoreThanOnceEach) {
  constexpr int kLetters = 1000;
  Store(kLetters);
  for (const StoredEvent& event : *store_->EventsAfter(0, kLetters, 1 << 24)) {
    ASSERT_TRUE(store_->BuryEvent("events", event, "old").ok());
  }
  ASSERT_EQ(*store_->QueueDeadLetters({}), kLetters);
  FakeEventExporter& events = AddEvents();
  events.poison = [](const StoredEvent&) { return true; };
  Run();
  EXPECT_EQ(*store_->CountDeadLetters("events"), kLetters);
  EXPECT_LE(events.attempts, kLetters + 12 * (kLetters / options_.batch_events + 1));
}

TEST_F(DeliveryTest, SendsLettersThatArePartlyRefusedAgainInFewSends) {
  constexpr int kLetters = 1000;
  Store(kLetters);
  for (const StoredEvent& event : *store_->EventsAfter(0, kLetters, 1 << 24)) {
    ASSERT_TRUE(store_->BuryEvent("events", event, "old").ok());
  }
  ASSERT_EQ(*store_->QueueDeadLetters({}), kLetters);
  FakeEventExporter& events = AddEvents();
  events.poison = [](const StoredEvent& event) { return event.id % 2 == 0; };
  Run();
  EXPECT_EQ(*store_->CountDeadLetters("events"), kLetters / 2);
  EXPECT_EQ(events.delivered.size(), kLetters / 2u);
  EXPECT_TRUE(std::is_sorted(events.delivered.begin(), events.delivered.end(),
                             [](const StoredEvent& a, const StoredEvent& b) { return a.id < b.id; }));
  EXPECT_LE(events.attempts, 3 * kLetters);
}

TEST_F(DeliveryTest, WaitsForQueuedLettersWhileTheTargetIsAway) {
  Store(1);
  ASSERT_TRUE(store_->BuryEvent("events", store_->EventsAfter(0, 1, 1000)->front(), "old").ok());
  ASSERT_EQ(*store_->QueueDeadLetters({}), 1);
  FakeEventExporter& events = AddEvents();
  events.down = true;
  Run(seconds(5));
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"events"}));
  EXPECT_EQ(StatsOf("events").events_pending, 1);
  events.down = false;
  Run(seconds(61));
  EXPECT_EQ(Ids(events), UpTo(1));
  EXPECT_TRUE(Pump().Behind().empty());
}

TEST_F(DeliveryTest, BuriesNothingWhenOnlyTheWholeBatchIsRefused) {
  FakeEventExporter& events = AddEvents();
  events.answers = {{Delivery::kRefused, "413", {}}};
  Store(9);
  Run();
  EXPECT_EQ(Ids(events), UpTo(9));
  EXPECT_EQ(*store_->CountDeadLetters("events"), 0);
}

TEST_F(DeliveryTest, CountsTheDeadLettersOfEarlierLives) {
  Store(1);
  ASSERT_TRUE(store_->BuryEvent("events", store_->EventsAfter(0, 1, 1000)->front(), "old").ok());
  AddEvents();
  Run();
  EXPECT_EQ(StatsOf("events").dead_letters, 1);
  EXPECT_TRUE(Pump().Behind().empty());
}

// --- the store

// Fails what it is told to.
class SickStore : public fakes::StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;
  Result<void> SetCursor(const std::string& exporter, std::int64_t id) override {
    if (sick) return Error{ErrorCode::kStore, "database is locked", true};
    return StoreWrapper::SetCursor(exporter, id);
  }
  Result<std::int64_t> NewestEventId() override {
    if (sick) return Error{ErrorCode::kStore, "database is locked", true};
    return StoreWrapper::NewestEventId();
  }
  bool sick = false;
};

TEST_F(DeliveryTest, DoesNotSendAgainWhatItCouldOnlyNotNoteAsSent) {
  SickStore sick(*store_);
  pump_ = std::make_unique<DeliveryPump>(sick, clock_, options_);
  FakeEventExporter& events = AddEvents();
  FakeMetricExporter& metrics = AddMetrics();
  Store(3);
  Run();
  sick.sick = true;
  Store(2);
  Publish("one");
  Run(hours(1));
  EXPECT_EQ(metrics.delivered.size(), 1u);
  sick.sick = false;
  Run(seconds(61));
  EXPECT_EQ(Ids(events), UpTo(5));
  EXPECT_EQ(*store_->Cursor("events"), 5);
}

TEST_F(DeliveryTest, SendsEventsWhereTheQueuedLettersCannotBeRead) {
  class WithoutLetters : public fakes::StoreWrapper {
   public:
    using StoreWrapper::StoreWrapper;
    Result<std::int64_t> CountQueuedLetters(const std::string&) override { return 1; }
    Result<std::vector<StoredEvent>> QueuedLetters(const std::string&, int, std::size_t) override {
      return std::vector<StoredEvent>();
    }
  } store(*store_);
  pump_ = std::make_unique<DeliveryPump>(store, clock_, options_);
  FakeEventExporter& events = AddEvents();
  Store(3);
  Run();
  EXPECT_EQ(Ids(events), UpTo(3));
  EXPECT_TRUE(Pump().Pending().empty());
}

TEST_F(DeliveryTest, SendsSnapshotsWithoutAStoreAndEventsWhenItOpens) {
  bool there = false;
  pump_ = std::make_unique<DeliveryPump>(
      [&]() -> Result<std::unique_ptr<store::Store>> {
        if (!there) return Error{ErrorCode::kStore, "no such file", true};
        return OpenStoreAt(folder_.Url(), clock_);
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
