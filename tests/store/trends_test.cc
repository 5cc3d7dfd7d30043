// The trends of each day: written when a sweep finishes, read by scope and time, kept for a number of days.
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

Day SampleDay(int day) { return *ParseDay("2026-03-01") + std::chrono::days{day - 1}; }

TrendNumbers SampleNumbers(std::int64_t first) {
  TrendNumbers numbers;
  for (const TrendField& field : kTrendFields) numbers.*field.value = first++;
  return numbers;
}

TrendFold SampleFold(int day, std::int64_t first = 1, const std::string& toolchain = "default torch 2.15.0") {
  TrendFold fold{SampleDay(day), toolchain, "eval", "s1", SampleDay(day) + std::chrono::nanoseconds{5}, true, {}};
  fold.rows = {{TrendScope::kAll, "", "", SampleNumbers(first)},
               {TrendScope::kFamily, "nlp", "", SampleNumbers(first + 100)},
               {TrendScope::kFamily, "vision", "", SampleNumbers(first + 200)},
               {TrendScope::kReason, "branching", "GB0170", SampleNumbers(first + 300)},
               {TrendScope::kReason, "branching", "", SampleNumbers(-first)}};
  return fold;
}

using Days = std::vector<std::string>;

Days DaysOf(Store& store, const TrendFilter& filter = {}) {
  Days days;
  const auto folds = store.ReadTrends(filter);
  for (const TrendFold& fold : *folds) days.push_back(FormatDay(fold.day));
  return days;
}

TEST_P(StoreTest, ReadsTrendsOfOneScopeAsTheyWereWritten) {
  const TrendFold fold = SampleFold(1);
  FinishWith({{fold}});
  for (const TrendScope by : {TrendScope::kAll, TrendScope::kFamily, TrendScope::kReason}) {
    TrendFold expected = fold;
    std::erase_if(expected.rows, [&](const TrendRow& row) { return row.scope != by; });
    if (by == TrendScope::kReason) std::swap(expected.rows[0], expected.rows[1]);  // ordered by gb_id
    EXPECT_EQ(*store_->ReadTrends({.by = by}), (std::vector<TrendFold>{expected})) << TrendScopeName(by);
  }
}

TEST_P(StoreTest, SelectsTrendsByNameAndId) {
  FinishWith({{SampleFold(1)}});
  const auto count = [&](const TrendFilter& filter) {
    const auto folds = store_->ReadTrends(filter);
    return folds->empty() ? std::size_t{0} : folds->front().rows.size();
  };
  EXPECT_EQ(count({.by = TrendScope::kFamily, .name = "vision"}), 1u);
  EXPECT_EQ(count({.by = TrendScope::kReason, .name = "branching"}), 2u);
  EXPECT_EQ(count({.by = TrendScope::kReason, .gb_id = "GB0170"}), 1u);
  EXPECT_EQ(count({.by = TrendScope::kFamily, .name = "audio"}), 0u);
  EXPECT_EQ(count({.mode = "train"}), 0u);
}

TEST_P(StoreTest, ReadsTheDaysOnWhichNothingWasOfThisName) {
  FinishWith({{SampleFold(1)}});
  TrendFold without = SampleFold(2);
  std::erase_if(without.rows, [](const TrendRow& row) { return row.scope == TrendScope::kReason; });
  FinishWith({{without}});
  const auto folds = store_->ReadTrends({.by = TrendScope::kReason, .gb_id = "GB0170"});
  ASSERT_EQ(folds->size(), 2u);
  EXPECT_EQ(folds->at(0).rows.size(), 1u);
  EXPECT_TRUE(folds->at(1).rows.empty()) << "the reason is gone";
}

TEST_P(StoreTest, SelectsTrendsByTheFirstAndLastDay) {
  for (const int day : {1, 2, 4, 5}) FinishWith({{SampleFold(day)}});
  EXPECT_EQ(DaysOf(*store_), (Days{"2026-03-01", "2026-03-02", "2026-03-04", "2026-03-05"}));
  EXPECT_EQ(DaysOf(*store_, {.since = SampleDay(2), .until = SampleDay(4)}), (Days{"2026-03-02", "2026-03-04"}));
  EXPECT_EQ(DaysOf(*store_, {.since = SampleDay(6)}), Days{});
}

TEST_P(StoreTest, ReplacesTheTrendsOfADayAsAWhole) {
  FinishWith({{SampleFold(1)}});
  TrendFold later = SampleFold(1, 50);
  later.sweep_id = "s2";
  later.rows.erase(later.rows.begin() + 1);  // no model of this family is left
  FinishWith({{later}});
  EXPECT_EQ(store_->ReadTrends({})->at(0).rows[0].numbers, SampleNumbers(50));
  EXPECT_EQ(store_->ReadTrends({})->at(0).sweep_id, "s2");
  const auto families = store_->ReadTrends({.by = TrendScope::kFamily});
  ASSERT_EQ(families->at(0).rows.size(), 1u);
  EXPECT_EQ(families->at(0).rows[0].name, "vision");
}

TEST_P(StoreTest, WritesNoTrendsIfTheSweepCannotFinish) {
  FinishWith({{SampleFold(1)}});
  CurrentChange change;
  change.trends = {{SampleFold(2)}};
  EXPECT_FALSE(store_->FinishSweep(FinishedSweep("s1"), {}, change).ok()) << "it is already finished";
  EXPECT_EQ(DaysOf(*store_), (Days{"2026-03-01"}));
}

TEST_P(StoreTest, HasTrendsOfOnePublishedToolchainADay) {
  FinishWith({{SampleFold(1, 1, "default torch 2.15.0")}});
  TrendFold further = SampleFold(1, 20, "next torch 2.16.0");
  further.published = false;
  FinishWith({{further}});
  EXPECT_EQ(store_->ReadTrends({})->at(0).toolchain, "default torch 2.15.0");
  FinishWith({{SampleFold(1, 30, "default torch 2.16.0")}});
  const auto published = store_->ReadTrends({});
  ASSERT_EQ(published->size(), 1u);
  EXPECT_EQ(published->at(0).toolchain, "default torch 2.16.0");
  EXPECT_EQ(store_->ReadTrends({.toolchain = "default"})->size(), 2u) << "both versions";
  EXPECT_EQ(store_->ReadTrends({.toolchain = "next torch 2.16.0"})->size(), 1u);
  EXPECT_EQ(store_->ReadTrends({.toolchain = "nex"})->size(), 0u);
}

TEST_P(StoreTest, KeepsTrendsOfTheNewestDays) {
  for (const int day : {1, 5, 9}) FinishWith({{SampleFold(day)}, /*keep_days=*/3});
  EXPECT_EQ(DaysOf(*store_).size(), 3u);
  FinishWith({{SampleFold(20)}, 3});
  EXPECT_EQ(DaysOf(*store_), (Days{"2026-03-05", "2026-03-09", "2026-03-20"}));
  FinishWith({{SampleFold(20, 7)}, 2});
  EXPECT_EQ(DaysOf(*store_), (Days{"2026-03-09", "2026-03-20"}));
  FinishWith({{SampleFold(21)}, /*keep_days=*/0});
  EXPECT_EQ(DaysOf(*store_).size(), 3u);
}

TEST_P(StoreTest, LosesTrendsOfOneDayToAClockThatWasWrongOnce) {
  for (const int day : {1, 2, 3}) FinishWith({{SampleFold(day)}, 3});
  FinishWith({{SampleFold(30'000)}, 3});
  FinishWith({{SampleFold(4)}, 3});
  EXPECT_EQ(DaysOf(*store_).size(), 3u);
  EXPECT_EQ(DaysOf(*store_)[0], "2026-03-03");
  EXPECT_EQ(DaysOf(*store_)[1], "2026-03-04");
}

TEST_P(StoreTest, KeepsTrendsOfOtherDaysWhenCurrentIsReplaced) {
  for (const int day : {1, 2}) FinishWith({{SampleFold(day)}});
  ASSERT_OK(store_->ReplaceCurrent({}, {{SampleFold(2, 70), SampleFold(3, 80)}}));
  EXPECT_EQ(DaysOf(*store_), (Days{"2026-03-01", "2026-03-02", "2026-03-03"}));
  EXPECT_EQ(store_->ReadTrends({})->at(1).rows[0].numbers, SampleNumbers(70));
}

TEST_P(StoreTest, OnlyAddsTrendsOfMissingDaysFromAHistoryWithGaps) {
  FinishWith({{SampleFold(2)}});
  ASSERT_OK(store_->ReplaceCurrent({}, {{SampleFold(1, 60), SampleFold(2, 70)}, 0, /*only_missing=*/true}));
  const auto folds = store_->ReadTrends({});
  ASSERT_EQ(folds->size(), 2u);
  EXPECT_EQ(folds->at(0).rows[0].numbers, SampleNumbers(60));
  EXPECT_EQ(folds->at(1).rows[0].numbers, SampleNumbers(1));
}

TEST_P(StoreTest, AHistoryWithGapsDoesNotReplaceThePublishedToolchainOfADay) {
  FinishWith({{SampleFold(1, 1, "default torch 2.16.0")}});
  ASSERT_OK(store_->ReplaceCurrent({}, {{SampleFold(1, 60, "default torch 2.15.0")}, 0, /*only_missing=*/true}));
  const auto folds = store_->ReadTrends({});
  ASSERT_EQ(folds->size(), 1u);
  EXPECT_EQ(folds->at(0).toolchain, "default torch 2.16.0");
}

TEST_P(StoreTest, WritesTheSameTrendsTwiceAsOnce) {
  FinishWith({{SampleFold(1)}});
  const auto once = *store_->ReadTrends({.by = TrendScope::kReason});
  ASSERT_OK(store_->ReplaceCurrent({}, {{SampleFold(1), SampleFold(1)}}));
  EXPECT_EQ(*store_->ReadTrends({.by = TrendScope::kReason}), once);
}

TEST_P(StoreTest, StoresTrendsOfReasonsThatAreNotText) {
  TrendFold fold = SampleFold(1);
  fold.rows = {{TrendScope::kAll, "", "", {}},
               {TrendScope::kReason, std::string("a\0b", 3) + "\xff'; DROP TABLE trends; --", "GB0001", {}}};
  FinishWith({{fold}});
  EXPECT_EQ(store_->ReadTrends({.by = TrendScope::kReason})->at(0).rows[0].name,
            "a\uFFFDb\uFFFD'; DROP TABLE trends; --");
}

}  // namespace
}  // namespace breakwatch::store
