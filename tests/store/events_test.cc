#include "store_fixture.h"

namespace breakwatch::store {
namespace {

std::vector<Event> Several(int count) {
  std::vector<Event> events;
  for (int i = 0; i < count; ++i) events.push_back(SampleEvent("graph_break", "org/model-" + std::to_string(i)));
  return events;
}

TEST_P(StoreTest, NumbersEventsWithoutGapsAndTimesThemInOrder) {
  ASSERT_OK(store_->AppendEvents(Several(3)));
  clock_.Advance(std::chrono::nanoseconds{1});  // less than the events before have used up
  ASSERT_OK(store_->AppendEvents(Several(1)));
  clock_.Advance(std::chrono::seconds{5});
  ASSERT_OK(store_->AppendEvents(Several(1)));
  const auto events = store_->EventsAfter(0, 100, 1 << 20);
  ASSERT_OK(events);
  ASSERT_EQ(events->size(), 5u);
  for (std::size_t i = 0; i < events->size(); ++i) {
    EXPECT_EQ((*events)[i].id, static_cast<std::int64_t>(i) + 1);
    if (i > 0) {
      EXPECT_GT((*events)[i].ts_ns, (*events)[i - 1].ts_ns);
    }
  }
  EXPECT_EQ(events->back().ts_ns, clock_.Now().time_since_epoch().count());
}

TEST_P(StoreTest, KeepsTheBytesOfALine) {
  const auto events = Several(1);
  ASSERT_OK(store_->AppendEvents(events));
  const StoredEvent stored = store_->EventsAfter(0, 1, 1)->at(0);
  EXPECT_EQ(stored.line, ComposeLine(events[0], stored.id, stored.ts_ns));
  EXPECT_EQ(stored.model, "org/model-0");
  EXPECT_EQ(stored.sweep_id, "s1");
  EXPECT_EQ(stored.commit, std::string(40, 'a'));
}

TEST_P(StoreTest, WritesEventsOfASweepWithTheirCauses) {
  const std::vector<Event> begun{SampleEvent("sweep_started")}, captured{SampleEvent("model_captured", "a/b")};
  const std::vector<Event> finished{SampleEvent("sweep_finished")};
  ASSERT_OK(store_->BeginSweep(SampleSweep("s1"), SamplePlan("s1", {"a/b"}), begun, {}, {}));
  ASSERT_OK(AppendOne(*store_, SampleResult("s1", "a/b"), captured));
  Sweep sweep = SampleSweep("s1");
  sweep.state = SweepState::kFinished;
  ASSERT_OK(store_->FinishSweep(sweep, finished, {}));
  const auto events = store_->EventsAfter(0, 10, 1 << 20);
  ASSERT_EQ(events->size(), 3u);
  EXPECT_NE((*events)[2].line.find("sweep_finished"), std::string::npos);
  EXPECT_EQ(*store_->NewestEventId(), 3);
}

TEST_P(StoreTest, HandsEventsOutWithinItsBounds) {
  ASSERT_OK(store_->AppendEvents(Several(450)));
  EXPECT_EQ(store_->EventsAfter(0, 1000, 64u << 20)->size(), 450u);
  const auto some = store_->EventsAfter(440, 3, 64u << 20);
  ASSERT_EQ(some->size(), 3u);
  EXPECT_EQ(some->front().id, 441);
  EXPECT_EQ(store_->EventsAfter(0, 1000, 1)->size(), 1u) << "at least one, however long";
  const auto bytes = store_->EventsAfter(0, 1, 1)->at(0).line.size();
  EXPECT_LE(store_->EventsAfter(0, 1000, bytes * 10)->size(), 10u);
  EXPECT_TRUE(store_->EventsAfter(450, 10, 1 << 20)->empty());
}

TEST_P(StoreTest, RemembersACursorPerExporter) {
  EXPECT_EQ(*store_->Cursor("loki"), 0);
  ASSERT_OK(store_->SetCursor("loki", 7));
  ASSERT_OK(store_->SetCursor("file", 3));
  ASSERT_OK(store_->SetCursor("loki", 9));
  EXPECT_EQ(*store_->Cursor("loki"), 9);
  EXPECT_EQ(*store_->Cursor("file"), 3);
}

TEST_P(StoreTest, MakesAnEventADeadLetterAndMovesTheCursor) {
  ASSERT_OK(store_->AppendEvents(Several(3)));
  const auto events = store_->EventsAfter(0, 10, 1 << 20);
  ASSERT_OK(store_->BuryEvent("loki", (*events)[1], "400: line too long"));
  EXPECT_EQ(*store_->Cursor("loki"), 2);
  EXPECT_EQ(*store_->CountDeadLetters("loki"), 1);
  EXPECT_EQ(*store_->CountDeadLetters("file"), 0);
  const auto letters = store_->DeadLetters({.exporter = "loki"}, 10);
  ASSERT_EQ(letters->size(), 1u);
  EXPECT_EQ((*letters)[0].event.line, (*events)[1].line);
  EXPECT_EQ((*letters)[0].reason, "400: line too long");
  EXPECT_EQ((*letters)[0].at, clock_.Now());
  // Again, after a crash between the answer and the write: one letter still, and no step back.
  ASSERT_OK(store_->SetCursor("loki", 3));
  ASSERT_OK(store_->BuryEvent("loki", (*events)[1], "400 again"));
  EXPECT_EQ(*store_->CountDeadLetters("loki"), 1);
  EXPECT_EQ(*store_->Cursor("loki"), 3);
}

}  // namespace
}  // namespace breakwatch::store
