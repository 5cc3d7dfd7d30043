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
  EXPECT_EQ(table.rows[0].back(), Cell(std::string("▁▇█")));
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
  EXPECT_EQ(TrendSummary(folds, TrendScope::kReason, true).rows[2].back(), Cell(std::string("█▁")));
}

TEST(TrendSummaryTest, NamesWhatGivesTrendsIfThereAreNone) {
  EXPECT_THAT(Render(TrendSummary({}, TrendScope::kAll, true), Format::kText), HasSubstr("`breakwatch store rebuild`"));
}

TEST(ThinnedOutTest, KeepsTheStateAtTheEndOfEachPartAndAddsUpItsChanges) {
  std::vector<TrendFold> folds;
  for (int day = 1; day <= 10; ++day) folds.push_back(Fold(day, {Family("nlp", 10, day, /*fixed=*/1)}));
  const auto thin = ThinnedOut(folds, 3);
  ASSERT_EQ(thin.size(), 3u);
  EXPECT_EQ(FormatDay(thin[0].day), "2026-03-03");
  EXPECT_EQ(FormatDay(thin[2].day), "2026-03-10");
  EXPECT_EQ(thin[0].rows[0].numbers.full_graph, 3);
  EXPECT_EQ(thin[0].rows[0].numbers.fixed + thin[1].rows[0].numbers.fixed + thin[2].rows[0].numbers.fixed, 10);
  EXPECT_EQ(ThinnedOut(folds, 400), folds) << "few folds stay as they are";
  EXPECT_TRUE(ThinnedOut({}, 3).empty());
}

TEST(ThinnedOutTest, KeepsTheChangesOfAFamilyThatIsGoneAtTheEndOfThePart) {
  TrendRow gone{TrendScope::kFamily, "audio", "", {}};
  gone.numbers.departed = 1;
  const auto thin = ThinnedOut({{Fold(1, {Family("audio", 4, 4)}), Fold(2, {gone}), Fold(3, {})}}, 1);
  EXPECT_EQ(thin[0].rows[0].numbers.models_with_numbers, 0);
  EXPECT_EQ(thin[0].rows[0].numbers.departed, 1);
}

TEST(NewestOfEachDayTest, TakesTheVersionOfTheNewestSweep) {
  TrendFold old = Fold(2, {}), renewed = Fold(2, {});
  old.at = renewed.at - std::chrono::seconds{1};
  renewed.toolchain = "default torch 2.14.0";
  TrendFold before = Fold(1, {});
  before.at = old.at - std::chrono::hours{24};
  const auto folds = NewestOfEachDay({before, renewed, old});
  EXPECT_EQ(folds, (std::vector<TrendFold>{before, renewed}));
}

nlohmann::json Document(const std::vector<TrendFold>& folds, const TrendFilter& filter, TrendBounds bounds = {}) {
  return nlohmann::json::parse(TrendDocument(folds, filter, bounds));
}

TEST(TrendDocumentTest, HasASeriesForEachFamilyWithItsPoints) {
  const std::vector<TrendFold> folds{Fold(1, {Family("audio", 0, 0), Family("nlp", 8, 6)}),
                                     Fold(2, {Family("nlp", 8, 7, 1)})};
  const auto document = Document(folds, {.by = TrendScope::kFamily, .since = ParseDay("2026-03-01")});
  EXPECT_EQ(document["by"], "family");
  EXPECT_EQ(document["since"], "2026-03-01");
  EXPECT_TRUE(document["until"].is_null());
  EXPECT_EQ(document["toolchain"], "default torch 2.15.0");
  ASSERT_EQ(document["series"].size(), 2u);
  EXPECT_EQ(document["series"][0]["family"], "audio");
  EXPECT_EQ(document["series"][0]["points"].size(), 1u);
  EXPECT_TRUE(document["series"][0]["points"][0]["full_graph_share"].is_null());
  const auto point = document["series"][1]["points"][1];
  EXPECT_EQ(point["day"], "2026-03-02");
  EXPECT_EQ(point["full_graph_share"], 0.875);
  EXPECT_EQ(point["fixed"], 1);
}

TEST(TrendDocumentTest, ListsTheReasonsOfTheMostModelsAndCountsTheRest) {
  const std::vector<TrendFold> folds{Fold(1, {Reason("gone", 9), Reason("some", 1)}),
                                     Fold(2, {Reason("new", 5), Reason("some", 2)})};
  const auto document = Document(folds, {.by = TrendScope::kReason}, {.points = 400, .series = 2});
  ASSERT_EQ(document["series"].size(), 2u);
  EXPECT_EQ(document["series"][0]["reason"], "new");
  EXPECT_EQ(document["series"][0]["gb_id"], "GB0001");
  EXPECT_EQ(document["series"][1]["reason"], "some");
  EXPECT_EQ(document["series_left_out"], 1);
}

TEST(TrendDocumentTest, HasOneSeriesWithoutANameForAllModels) {
  TrendFold fold = Fold(1, {Family("", 4, 2)});
  fold.rows[0].scope = TrendScope::kAll;
  const auto series = Document({fold}, {})["series"];
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series[0].size(), 1u) << "points";
  EXPECT_TRUE(Document({}, {})["series"].empty());
}

TEST(TrendDocumentTest, IsBoundedAfterYearsOfManyReasons) {
  std::vector<TrendFold> folds;
  for (int day = 1; day <= 1830; ++day) {
    folds.push_back(Fold(day, {}));
    folds.back().at = SystemTime(folds.back().day);
    for (int reason = 0; reason < 200; ++reason)
      folds.back().rows.push_back(Reason("reason " + std::to_string(1000 + reason), 1'000'000));
  }
  const std::string text = TrendDocument(folds, {.by = TrendScope::kReason});
  EXPECT_LT(text.size(), 15u << 20);
  const auto document = nlohmann::json::parse(text);
  EXPECT_EQ(document["series"].size(), 100u);
  EXPECT_EQ(document["series"][0]["points"].size(), 400u);
  EXPECT_EQ(document["series"][0]["points"][399]["day"], FormatDay(folds.back().day)) << "the newest day";
}

}  // namespace
}  // namespace breakwatch::report
