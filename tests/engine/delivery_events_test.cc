#include <cmath>

#include "engine/delivery_fixture.h"
#include "event_channel.h"

namespace breakwatch::engine {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

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

TEST_F(DeliveryTest, ContinuesAfterTheCursorOfAnEarlierRun) {
  Store(10);
  ASSERT_TRUE(store_->SetCursor("events", 6).ok());
  FakeEventExporter& events = AddEvents();
  Run();
  EXPECT_EQ(Ids(events), (std::vector<std::int64_t>{7, 8, 9, 10}));
}

TEST_F(DeliveryTest, StartsAnAddedExporterWithTheEventsFromNowOnAndSaysSo) {
  Store(10);
  clock_.Advance(seconds(1));
  FakeEventExporter& events = AddEvents("events", {.from_beginning = false});
  Store(2);
  Run();
  EXPECT_EQ(Ids(events), (std::vector<std::int64_t>{11, 12}));
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0], "events: starts after event 10; earlier events are not sent (setting start: now)");
}

TEST_F(DeliveryTest, SkipsNothingThatAnAddedExporterCouldNotSendBeforeARestart) {
  AddEvents("events", {.from_beginning = false}).down = true;
  Run();
  Store(5);
  Run(seconds(1));
  pump_.reset();
  clock_.Advance(seconds(1));
  FakeEventExporter& events = AddEvents("events", {.from_beginning = false});
  Run();
  EXPECT_EQ(Ids(events), UpTo(5));
}

TEST_F(DeliveryTest, WaitsForFurtherEventsUnlessSomethingDrains) {
  FakeEventExporter& events = AddEvents("events", {.remote = true});
  for (int i = 0; i < 9; ++i) Store(1), Run(std::chrono::milliseconds(100));
  EXPECT_EQ(events.attempts, 0);
  Run(std::chrono::milliseconds(100));
  EXPECT_EQ(Ids(events), UpTo(9));
  EXPECT_EQ(events.attempts, 1);
  Store(1);
  Pump().Hurry();
  Run();
  EXPECT_EQ(Ids(events), UpTo(10));
}

TEST_F(DeliveryTest, WaitsOnlyOnceForALongRowOfEvents) {
  options_.batch_events = 10;
  FakeEventExporter& events = AddEvents("events", {.remote = true});
  Store(55);
  Run(seconds(1));
  EXPECT_EQ(Ids(events), UpTo(55));
}

TEST_F(DeliveryTest, StoresTheLastErrorOfAnExporter) {
  FakeEventExporter& events = AddEvents();
  events.answers = {{Delivery::kTryAgain, "503 busy", {}}};
  Store(1);
  Run(seconds(5));
  const auto states = store_->DeliveryStates();
  ASSERT_EQ(states->size(), 1u);
  EXPECT_EQ(states->front().last_error, "503 busy");
  EXPECT_NE(states->front().last_error_at, SystemTime{});
}

TEST_F(DeliveryTest, KeepsEverythingThroughAnOutageOfThreeDays) {
  FakeEventExporter& events = AddEvents();
  events.down = true;
  for (int hour = 0; hour < 72; ++hour) Store(10), Run(hours(1));
  EXPECT_EQ(StatsOf("events").events_pending, 720);
  EXPECT_GE(StatsOf("events").oldest_age, hours(71));
  const SystemTime oldest = StatsOf("events").oldest_at;
  EXPECT_EQ(oldest.time_since_epoch().count(), store_->EventsAfter(0, 1, 1)->front().ts_ns);
  EXPECT_GT(StatsOf("events").last_failure, oldest);
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"events"}));
  events.down = false;
  Run(seconds(61));
  EXPECT_EQ(Ids(events), UpTo(720));
  EXPECT_EQ(StatsOf("events").oldest_at, SystemTime{}) << "none waits";
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

TEST_F(DeliveryTest, MakesOnlyTheRejectedEventADeadLetterAndSendsTheRest) {
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

TEST_F(DeliveryTest, ADeadLetterIsNoFailureOfTheTarget) {
  FakeEventExporter& events = AddEvents();
  events.poison = [](const StoredEvent& event) { return event.id == 3; };
  Store(3);
  Run();
  EXPECT_EQ(StatsOf("events").dead_letters, 1);
  EXPECT_EQ(StatsOf("events").last_failure, SystemTime{});
}

TEST_F(DeliveryTest, IsolatesARejectedEventInLogarithmicallyManySends) {
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
      // The batch, the search, and the rest after the rejected event, in sends that double.
      EXPECT_LE(events.attempts, 1 + 2 * (std::ceil(std::log2(size)) + 1)) << name;
    }
  }
}

TEST_F(DeliveryTest, SendsNothingAgainOfABatchWhoseRejectedEventsAreNamed) {
  FakeEventExporter& events = AddEvents();
  events.named = [](const StoredEvent& event) { return event.id == 7 || event.id == 8 || event.id == 100; };
  Store(100);
  Run();
  EXPECT_EQ(events.attempts, 1);
  EXPECT_EQ(events.delivered.size(), 97u);
  const auto dead = store_->DeadLetters({.exporter = "events"}, 10);
  ASSERT_EQ(dead->size(), 3u);
  EXPECT_EQ((*dead)[2].event.id, 100);
  EXPECT_EQ((*dead)[2].reason, "refused 100");
  EXPECT_EQ(*store_->Cursor("events"), 100);
  EXPECT_EQ(StatsOf("events").dead_letters, 3);
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"events"}));
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0],
            "events: refused 3 events, now dead letters (breakwatch dead-letters list --exporter events), the first is "
            "7: refused 7");
}

TEST_F(DeliveryTest, BuriesABatchOfWhichEveryEventIsNamedAndGoesOn) {
  options_.batch_events = 10;
  FakeEventExporter& events = AddEvents();
  events.named = [](const StoredEvent& event) { return event.id <= 20; };
  Store(25);
  Run();
  EXPECT_EQ(events.attempts, 3);
  EXPECT_EQ(events.delivered.size(), 5u);
  EXPECT_EQ(*store_->CountDeadLetters("events"), 20);
  EXPECT_FALSE(StatsOf("events").paused);
}

TEST_F(DeliveryTest, TakesOneSendForEachOfManyRejectedEventsInARow) {
  FakeEventExporter& events = AddEvents();
  events.names_events = true;
  events.poison = [](const StoredEvent& event) { return event.id <= 2500; };
  Store(2600);
  Run();
  EXPECT_EQ(*store_->CountDeadLetters("events"), 2500);
  EXPECT_EQ(events.delivered.size(), 100u);
  EXPECT_LE(events.attempts, 2500 + 30);
}

TEST_F(DeliveryTest, SendsFewerEventsToATargetThatAsksForIt) {
  options_.batch_events = 64;
  FakeEventExporter& events = AddEvents();
  events.largest = 10;
  Store(640);
  Run(hours(1));
  EXPECT_EQ(Ids(events), UpTo(640));
  // 64, 32 and 16 are too many, 8 are not. After eight of them 16 are tried again, and so on.
  EXPECT_LE(events.attempts, 3 + 80 + 10);
  events.largest = 1000;
  events.attempts = 0;
  Store(6400);
  Run();
  EXPECT_LE(events.attempts, 8 + 8 + 8 + 100) << "the batches grow to their bound again";
}

TEST_F(DeliveryTest, PausesAndLosesNothingWhileEveryEventIsRejected) {
  FakeEventExporter& events = AddEvents();
  bool broken = true;
  events.poison = [&](const StoredEvent&) { return broken; };
  Store(500);
  Run();
  EXPECT_EQ(*store_->CountDeadLetters("events"), 0);
  EXPECT_TRUE(StatsOf("events").paused);
  EXPECT_EQ(StatsOf("events").events_pending, 500);
  EXPECT_EQ(StatsOf("events").oldest_at.time_since_epoch().count(), store_->EventsAfter(0, 1, 1)->front().ts_ns);
  EXPECT_NE(StatsOf("events").last_failure, SystemTime{});
  EXPECT_EQ(Pump().Behind(), (std::vector<std::string>{"events"}));
  const auto states = store_->DeliveryStates();
  ASSERT_EQ(states->size(), 1u);
  EXPECT_EQ(states->front().paused, "refused event 64");
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(
      reports_[0],
      "events: paused: the target refuses every event (64 were sent one by one); nothing is lost, will retry: refused "
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

TEST_F(DeliveryTest, StaysPausedAfterARestartUntilAnEventIsAccepted) {
  ASSERT_TRUE(store_->SetPaused("events", "400").ok());
  FakeEventExporter& events = AddEvents();
  Store(3);
  EXPECT_FALSE(StatsOf("events").paused);
  Run();
  EXPECT_EQ(Ids(events), UpTo(3));
  EXPECT_EQ(store_->DeliveryStates()->front().paused, "");
}

TEST_F(DeliveryTest, LosesNothingWhenTheTargetRecoversBetweenTwoAttempts) {
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

TEST_F(DeliveryTest, MakesTheFirstOnesDeadLettersOnlyOnceALaterOneIsAccepted) {
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

TEST_F(DeliveryTest, MakesNamedEventsDeadLettersThoughNothingIsAccepted) {
  FakeEventExporter& events = AddEvents();
  events.poison = [](const StoredEvent&) { return true; };
  events.names_events = true;
  Store(20);
  Run();
  EXPECT_EQ(*store_->CountDeadLetters("events"), 20);
  EXPECT_FALSE(StatsOf("events").paused);
}

TEST_F(DeliveryTest, MakesNoDeadLetterWhenOnlyTheWholeBatchIsRejected) {
  FakeEventExporter& events = AddEvents();
  events.answers = {{Delivery::kRefused, "413", {}}};
  Store(9);
  Run();
  EXPECT_EQ(Ids(events), UpTo(9));
  EXPECT_EQ(*store_->CountDeadLetters("events"), 0);
}

TEST_F(DeliveryTest, CountsTheDeadLettersOfEarlierRuns) {
  Store(1);
  ASSERT_TRUE(store_->BuryEvent("events", store_->EventsAfter(0, 1, 1000)->front(), "old").ok());
  AddEvents();
  Run();
  EXPECT_EQ(StatsOf("events").dead_letters, 1);
  EXPECT_TRUE(Pump().Behind().empty());
}

}  // namespace
}  // namespace breakwatch::engine
