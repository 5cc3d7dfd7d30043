#include "breakwatch/exporters/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/sample_snapshot.h"

namespace breakwatch::exporters {
namespace {

using ::testing::SizeIs;

std::vector<StoredEvent> Events(std::int64_t first, std::int64_t last) {
  std::vector<StoredEvent> events;
  for (std::int64_t id = first; id <= last; ++id) events.push_back({id, id * 10, "s", "m", "c", "{}"});
  return events;
}

class MemoryTest : public ::testing::Test {
 protected:
  std::shared_ptr<MemoryRecord> record_ = std::make_shared<MemoryRecord>();
};

TEST_F(MemoryTest, KeepsTheNewestWithinItsBounds) {
  const auto metrics = MakeMemoryMetrics({.name = "m", .max_snapshots = 2}, record_);
  Snapshot snapshot = fakes::SampleSnapshot();
  for (int i = 1; i <= 3; ++i) {
    snapshot.taken_at = fakes::At(i);
    EXPECT_EQ(metrics->Export(snapshot).delivery, Delivery::kDelivered);
  }
  ASSERT_THAT(record_->Snapshots(), SizeIs(2));
  EXPECT_EQ(record_->Snapshots().back().taken_at, fakes::At(3));

  const auto events = MakeMemoryEvents({.name = "e", .max_events = 3}, record_);
  events->Export(Events(1, 2));
  events->Export(Events(3, 4));
  ASSERT_THAT(record_->Events(), SizeIs(3));
  EXPECT_EQ(record_->Events().front().id, 2);
}

TEST_F(MemoryTest, AnswersAsConfiguredAndKeepsOnlyWhatItAccepted) {
  const auto events = MakeMemoryEvents({}, record_);
  record_->AnswerNext({Delivery::kTryAgain, "busy", std::chrono::milliseconds{5}});
  record_->AnswerNext({Delivery::kRefused, "bad", {}});
  EXPECT_EQ(events->Export(Events(1, 1)).detail, "busy");
  EXPECT_EQ(events->Export(Events(1, 1)).delivery, Delivery::kRefused);
  EXPECT_THAT(record_->Events(), SizeIs(0));
  EXPECT_EQ(events->Export(Events(1, 1)).delivery, Delivery::kDelivered);
  record_->AnswerAlways({Delivery::kTryAgain, "away", {}});
  EXPECT_EQ(events->Export(Events(2, 2)).detail, "away");
  EXPECT_EQ(events->Export(Events(2, 2)).detail, "away");
  EXPECT_THAT(record_->Events(), SizeIs(1));
  EXPECT_EQ(record_->Attempts(), 5u);
}

TEST_F(MemoryTest, HasLostItsStateUntilASnapshotArrives) {
  const auto metrics = MakeMemoryMetrics({}, record_);
  EXPECT_FALSE(metrics->CheckTarget().lost_state);
  record_->LoseState();
  EXPECT_TRUE(metrics->CheckTarget().lost_state);
  record_->AnswerNext({Delivery::kTryAgain, "busy", {}});
  metrics->Export({});
  EXPECT_TRUE(metrics->CheckTarget().lost_state);
  metrics->Export({});
  EXPECT_FALSE(metrics->CheckTarget().lost_state);
}

}  // namespace
}  // namespace breakwatch::exporters
