#include "breakwatch/report/trends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace breakwatch::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Values = std::vector<std::optional<double>>;

TrendFold Fold(int day, std::vector<TrendRow> rows) {
  TrendFold fold{*ParseDay("2026-03-01") + std::chrono::days{day - 1},
                 "default torch 2.15.0",
                 "eval",
                 "s1",
                 {},
                 true,
                 std::move(rows)};
  return fold;
}

TrendRow Family(const std::string& name, std::int64_t with_numbers, std::int64_t full_graph, std::int64_t fixed = 0) {
  TrendRow row{TrendScope::kFamily, name, "", {}};
  row.numbers.models_tracked = 10, row.numbers.models_with_numbers = with_numbers;
  row.numbers.full_graph = full_graph, row.numbers.fixed = fixed;
  return row;
}

TrendRow Reason(const std::string& name, std::int64_t models) {
  TrendRow row{TrendScope::kReason, name, "GB0001", {}};
  row.numbers.models = models;
  return row;
}

TEST(SparklineTest, DrawsTheLowestAndTheHighestValue) {
  EXPECT_EQ(Sparkline(Values{0.1, 0.5, 0.9}, 10), "▁▅█");
  EXPECT_EQ(Sparkline(Values{-7, 0, -7}, 10), "▁█▁");
}

TEST(SparklineTest, DrawsEqualValuesInTheMiddleAndMissingOnesAsBlanks) {
  EXPECT_EQ(Sparkline(Values{3, std::nullopt, 3}, 10), "▄ ▄");
  EXPECT_EQ(Sparkline(Values{std::nullopt}, 10), " ");
  EXPECT_EQ(Sparkline(Values{}, 10), "");
}

TEST(SparklineTest, DrawsTheNewestValueOfEachPartIfThereAreManyValues) {
  Values values;
  for (int i = 1; i <= 400; ++i) values.emplace_back(i);
  EXPECT_EQ(Sparkline(values, 4), "▁▃▆█");
  EXPECT_EQ(Sparkline(Values{1, 2, 3}, 2), "▁█");
}

TEST(TrendTableTest, HasARowPerDayAndSeriesForPrograms) {
  const std::vector<TrendFold> folds{Fold(1, {Family("audio", 0, 0), Family("nlp", 8, 6)}),
                                     Fold(2, {Family("nlp", 8, 7, 1)})};
  const auto rows = nlohmann::json::parse(Render(TrendTable(folds, TrendScope::kFamily), Format::kJson));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1]["day"], "2026-03-01");
  EXPECT_EQ(rows[1]["family"], "nlp");
  EXPECT_EQ(rows[1]["full_graph_share"], 0.75);
  EXPECT_EQ(rows[1]["toolchain"], "default torch 2.15.0");
  EXPECT_TRUE(rows[0]["full_graph_share"].is_null()) << "no model has numbers";
  EXPECT_EQ(rows[2]["fixed"], 1);
  EXPECT_THAT(Render(TrendTable(folds, TrendScope::kFamily), Format::kCsv),
              HasSubstr("day,family,toolchain,mode,sweep_id,models_tracked,models_with_numbers,full_graph,"));
}

TEST(TrendTableTest, HasOnlyTheNumbersThatAScopeHas) {
  const std::vector<TrendFold> folds{Fold(1, {Reason("branching", 3)})};
  const auto row = nlohmann::json::parse(Render(TrendTable(folds, TrendScope::kReason), Format::kJson))[0];
  EXPECT_EQ(row["gb_id"], "GB0001");
  EXPECT_EQ(row["models"], 3);
  EXPECT_FALSE(row.contains("full_graph"));
}

TEST(TrendSummaryTest, ComparesTheFirstDayOfASeriesWithTheLast) {
  const std::vector<TrendFold> folds{Fold(1, {Family("nlp", 8, 6, 100)}), Fold(4, {Family("nlp", 8, 7, 1)}),
                                     Fold(5, {Family("nlp", 10, 9, 1)})};
  const std::string text = Render(TrendSummary(folds, TrendScope::kFamily, /*draw=*/false), Format::kText);
  EXPECT_THAT(text, HasSubstr("2026-03-01 to 2026-03-05, 3 days with a sweep"));
  EXPECT_THAT(text, HasSubstr("75.0  90.0    15.0"));
  EXPECT_THAT(text, Not(HasSubstr("▁")));
  const Table table = TrendSummary(folds, TrendScope::kFamily, /*draw=*/true);
  EXPECT_EQ(table.rows[0][7], Cell(std::int64_t{2})) << "without the change of the first day";
  EXPECT_EQ(table.rows[0].back(), Cell(std::string("▁▆█")));
}

TEST(TrendSummaryTest, ListsFirstTheReasonsThatMostModelsHaveNow) {
  const std::vector<TrendFold> folds{Fold(1, {Reason("gone", 9), Reason("some", 1)}),
                                     Fold(2, {Reason("new", 5), Reason("some", 2)})};
  const Table table = TrendSummary(folds, TrendScope::kReason, false);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0][0], Cell(std::string("new")));
  EXPECT_EQ(table.rows[0][4], Cell(std::int64_t{5})) << "the change";
  EXPECT_EQ(table.rows[2][0], Cell(std::string("gone")));
  EXPECT_EQ(table.rows[2][3], Cell(std::int64_t{0})) << "now";
}

TEST(TrendSummaryTest, NamesWhatGivesTrendsIfThereAreNone) {
  EXPECT_THAT(Render(TrendSummary({}, TrendScope::kAll, true), Format::kText), HasSubstr("`breakwatch store rebuild`"));
}

}  // namespace
}  // namespace breakwatch::report
