#include "store_fixture.h"

namespace breakwatch::store {
namespace {

// Events of which the first `dead` are dead letters of both exporters.
void Bury(Store& store, int count, int dead) {
  std::vector<Event> events;
  for (int i = 0; i < count; ++i) events.push_back(SampleEvent("graph_break", "org/model-" + std::to_string(i)));
  ASSERT_OK(store.AppendEvents(events));
  if (dead == 0) return;
  const auto stored = store.EventsAfter(0, dead, 1 << 20);
  ASSERT_OK(stored);
  for (const StoredEvent& event : *stored) {
    ASSERT_OK(store.BuryEvent("loki", event, "400"));
    ASSERT_OK(store.BuryEvent("file", event, "no"));
  }
}

TEST_P(StoreTest, ListsDeadLettersByExporterAndIdWithinItsBound) {
  Bury(*store_, 5, 3);
  EXPECT_EQ(store_->DeadLetters({}, 100)->size(), 6u);
  const auto some = store_->DeadLetters({.exporter = "loki"}, 2);
  ASSERT_EQ(some->size(), 2u);
  EXPECT_EQ((*some)[0].event.id, 1);
  EXPECT_EQ((*some)[1].event.id, 2);
  const auto named = store_->DeadLetters({.exporter = {}, .ids = {3, 77}}, 100);
  ASSERT_EQ(named->size(), 2u);
  EXPECT_EQ((*named)[0].exporter, "file");
  EXPECT_EQ((*named)[1].exporter, "loki");
}

TEST_P(StoreTest, QueuesDeadLettersInTheOrderOfEventsAndCountsThemApart) {
  Bury(*store_, 4, 3);
  EXPECT_EQ(*store_->QueueDeadLetters({.exporter = "loki", .ids = {3, 1, 9}}), 2);
  EXPECT_EQ(*store_->QueueDeadLetters({.exporter = "loki", .ids = {1}}), 1) << "a second time changes nothing";
  EXPECT_EQ(*store_->CountQueuedLetters("loki"), 2);
  EXPECT_EQ(*store_->CountDeadLetters("loki"), 1);
  EXPECT_EQ(*store_->CountQueuedLetters("file"), 0);
  const auto queued = store_->QueuedLetters("loki", 10, 1 << 20);
  ASSERT_EQ(queued->size(), 2u);
  EXPECT_EQ((*queued)[0].id, 1);
  EXPECT_EQ((*queued)[1].id, 3);
  EXPECT_EQ((*queued)[0].line, store_->EventsAfter(0, 1, 1)->front().line);
  EXPECT_EQ(store_->QueuedLetters("loki", 10, 1)->size(), 1u) << "at least one, however long";
  EXPECT_TRUE(store_->DeadLetters({.exporter = "loki"}, 1)->front().queued);
}

Refusal Again(std::int64_t id) { return {{id, 0, {}, {}, {}, {}}, "400 again"}; }

TEST_P(StoreTest, MakesEventsDeadLettersTogetherAndMovesTheCursorPastTheirBatch) {
  Bury(*store_, 6, 0);
  std::vector<Refusal> refused;
  for (const StoredEvent& event : *store_->EventsAfter(1, 3, 1 << 20)) refused.push_back({event, "too old"});
  ASSERT_OK(store_->BuryEvents("loki", refused, 5));
  EXPECT_EQ(*store_->Cursor("loki"), 5);
  const auto letters = store_->DeadLetters({.exporter = "loki"}, 10);
  ASSERT_EQ(letters->size(), 3u);
  EXPECT_EQ((*letters)[2].event.id, 4);
  EXPECT_EQ((*letters)[2].event.line, refused[2].event.line);
  EXPECT_EQ((*letters)[2].reason, "too old");
  ASSERT_OK(store_->BuryEvents("loki", refused, 2));
  EXPECT_EQ(*store_->Cursor("loki"), 5) << "it never moves back";
  EXPECT_EQ(store_->DeadLetters({}, 10)->size(), 3u);
}

TEST_P(StoreTest, MakesALetterThatIsRefusedAgainDeadAndBringsNoneBackThatWasDropped) {
  Bury(*store_, 2, 2);
  ASSERT_OK(store_->QueueDeadLetters({.exporter = "loki"}));
  ASSERT_OK(store_->RefuseQueuedLetters("loki", std::vector{Again(1)}));
  EXPECT_EQ(store_->DeadLetters({.exporter = "loki", .ids = {1}}, 1)->front().reason, "400 again");
  EXPECT_EQ(*store_->CountDeadLetters("loki"), 1);
  EXPECT_EQ(*store_->DropDeadLetters({.exporter = "loki", .ids = {2}}), 1);
  ASSERT_OK(store_->RefuseQueuedLetters("loki", std::vector{Again(2)}));
  EXPECT_EQ(store_->DeadLetters({.exporter = "loki"}, 10)->size(), 1u);
  EXPECT_EQ(*store_->CountQueuedLetters("loki"), 0);
  EXPECT_EQ(*store_->DropDeadLetters({}), 3);
  EXPECT_TRUE(store_->DeadLetters({}, 10)->empty());
}

TEST_P(StoreTest, CountsWhatIsQueuedByItsDeadLetters) {
  Bury(*store_, 3, 1);
  Break("INSERT INTO requeued (exporter, event_id) VALUES ('loki', 77)");
  EXPECT_EQ(*store_->CountQueuedLetters("loki"), 0);
  EXPECT_TRUE(store_->QueuedLetters("loki", 10, 1 << 20)->empty());
  const auto states = store_->DeliveryStates();
  EXPECT_EQ(states->back().exporter, "loki");
  EXPECT_EQ(states->back().queued, 0);
  EXPECT_EQ(states->back().dead_letters, 1);
}

TEST_P(StoreTest, ReportsTheStateOfEachExporter) {
  Bury(*store_, 4, 2);
  ASSERT_OK(store_->SetCursor("loki", 4));
  ASSERT_OK(store_->QueueDeadLetters({.exporter = "loki", .ids = {2}}));
  ASSERT_OK(store_->SetPaused("file", "no space"));
  clock_.Advance(std::chrono::hours{1});
  ASSERT_OK(store_->SetPaused("file", "still none"));
  const auto states = store_->DeliveryStates();
  ASSERT_OK(states);
  ASSERT_EQ(states->size(), 2u);
  EXPECT_EQ((*states)[0].exporter, "file");
  EXPECT_EQ((*states)[0].paused, "still none");
  EXPECT_EQ((*states)[0].paused_at, clock_.Now() - std::chrono::hours{1}) << "since the first";
  EXPECT_EQ((*states)[0].cursor, 2);
  EXPECT_EQ((*states)[1].exporter, "loki");
  EXPECT_EQ((*states)[1].cursor, 4);
  EXPECT_EQ((*states)[1].dead_letters, 1);
  EXPECT_EQ((*states)[1].queued, 1);
  EXPECT_EQ((*states)[1].paused, "");
  ASSERT_OK(store_->SetPaused("file", ""));
  EXPECT_EQ(store_->DeliveryStates()->front().paused, "");
}

}  // namespace
}  // namespace breakwatch::store
