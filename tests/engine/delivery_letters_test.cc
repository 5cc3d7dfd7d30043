#include <algorithm>

#include "engine/delivery_fixture.h"

namespace breakwatch::engine {
namespace {

using std::chrono::seconds;

constexpr int kLetters = 1000;

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

// A warning is stored as a delivery_failed event, which this target would refuse again, without end.
TEST_F(DeliveryTest, WarnsOfARefusedEventUnlessItRecordsARefusalItself) {
  std::vector<Level> levels;
  options_.report = [&](Level level, std::string_view, std::string_view) { levels.push_back(level); };
  std::vector<Event> stored(3);
  stored[0].name = "tick", stored[1].name = kDeliveryFailed, stored[2].name = "graph_break";
  stored[2].fields_json = R"({"about":{"msg":"delivery_failed"}})";
  ASSERT_TRUE(store_->AppendEvents(stored).ok());
  for (const StoredEvent& event : *store_->EventsAfter(0, 3, 1 << 20)) {
    ASSERT_TRUE(store_->BuryEvent("events", event, "old answer").ok());
  }
  ASSERT_EQ(*store_->QueueDeadLetters({}), 3);
  AddEvents().poison = [](const StoredEvent&) { return true; };
  Run();
  EXPECT_EQ(levels, (std::vector<Level>{Level::kWarn, Level::kInfo, Level::kWarn}));
}

TEST_F(DeliveryTest, KeepsALetterThatIsRejectedAgainAndDoesNotPause) {
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
  StoreQueuedLetters(kLetters);
  FakeEventExporter& events = AddEvents();
  events.poison = [](const StoredEvent&) { return true; };
  Run();
  EXPECT_EQ(*store_->CountDeadLetters("events"), kLetters);
  EXPECT_LE(events.attempts, kLetters + 12 * (kLetters / options_.batch_events + 1));
}

TEST_F(DeliveryTest, SendsLettersThatArePartlyRefusedAgainInFewSends) {
  StoreQueuedLetters(kLetters);
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

}  // namespace
}  // namespace breakwatch::engine
