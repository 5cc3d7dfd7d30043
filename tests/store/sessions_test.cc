#include <thread>

#include "database.h"
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

TEST_P(StoreTest, ServesALoopAndADeliveryThreadAtOnce) {
  constexpr int kResults = 60;
  std::vector<std::string> models;
  for (int i = 0; i < kResults; ++i) models.push_back("org/model-" + std::to_string(i));
  Begin("s1", models);
  const auto delivery_store = Open();
  std::vector<std::int64_t> delivered;
  std::thread delivery([&] {
    while (delivered.size() < 2 * kResults) {
      const auto events = delivery_store->EventsAfter(delivered.empty() ? 0 : delivered.back(), 7, 1 << 20);
      ASSERT_OK(events);
      for (const auto& event : *events) delivered.push_back(event.id);
      if (!delivered.empty()) EXPECT_OK(delivery_store->SetCursor("loki", delivered.back()));
    }
  });
  for (const auto& model : models) {
    const std::vector<Event> events(2, SampleEvent("graph_break", model));
    EXPECT_OK(AppendOne(*store_, SampleResult("s1", model), events));
  }
  delivery.join();
  for (std::size_t i = 0; i < delivered.size(); ++i) EXPECT_EQ(delivered[i], static_cast<std::int64_t>(i) + 1);
  EXPECT_EQ(*store_->Cursor("loki"), 2 * kResults);
  EXPECT_OK(store_->Check());
}

TEST_P(StoreTest, NumbersEventsOfTwoWritersWithoutGaps) {
  constexpr int kRounds = 50;
  const auto other = Open();
  const std::vector<Event> events(3, SampleEvent("delivery_failed"));
  std::thread second([&] {
    for (int i = 0; i < kRounds; ++i) EXPECT_OK(other->AppendEvents(events));
  });
  for (int i = 0; i < kRounds; ++i) EXPECT_OK(store_->AppendEvents(events));
  second.join();
  EXPECT_EQ(*store_->NewestEventId(), 2 * 3 * kRounds);
  EXPECT_OK(store_->Check());
}

TEST_P(StoreTest, ReportsAnotherWriterAndContinuesWhenItHasEnded) {
  Database other(std::move(*MakeDialect(url_, std::chrono::seconds{10})), /*read_only=*/false);
  ASSERT_OK(other.Connect());
  const auto store = Store::Open({url_, false, std::chrono::milliseconds{1}}, clock_);
  ASSERT_OK(store);
  ASSERT_OK(other.Write([&](soci::session&) -> Result<void> {
    const auto locked = (*store)->SetCursor("loki", 1);
    EXPECT_FALSE(locked.ok());
    EXPECT_EQ(locked.error().code, ErrorCode::kStore);
    EXPECT_TRUE(locked.error().retryable);
    EXPECT_NE(locked.error().message.find("locked by another program"), std::string::npos) << locked.error().message;
    EXPECT_EQ(*(*store)->Cursor("loki"), 0) << "reading goes on";
    return {};
  }));
  EXPECT_OK((*store)->SetCursor("loki", 1));
}

TEST_P(StoreTest, MakesItsSchemaOnceWhenSeveralOpenAtOnce) {
  url_ = GetParam()->NewDatabase();
  std::vector<std::thread> openers;
  for (int i = 0; i < 4; ++i)
    openers.emplace_back([&] {
      const auto opened = Store::Open({url_, false}, clock_);
      EXPECT_OK(opened);
    });
  for (auto& opener : openers) opener.join();
  EXPECT_OK(Open()->Check());
}

TEST_P(StoreTest, ReadsWhileAnotherSessionWrites) {
  Begin("s1", {"a/b"});
  const auto reader = Open(/*read_only=*/true);
  Append(SampleResult("s1", "a/b"));
  EXPECT_EQ(reader->Results("s1")->size(), 1u);
}

}  // namespace
}  // namespace breakwatch::store
