#include "breakwatch/core/openmetrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A day with 4 of 5 models with numbers, of which 3 are full graphs.
TrendFold SampleFold(const std::string& time) {
  TrendFold fold;
  fold.at = *ParseTime(time);
  fold.day = DayOf(fold.at);
  fold.published = true;
  TrendNumbers numbers;
  numbers.models_tracked = 5, numbers.models_with_numbers = 4, numbers.full_graph = 3;
  numbers.models = 1, numbers.breaks = 6, numbers.break_sites = 2, numbers.leverage = 1;
  fold.rows = {{TrendScope::kAll, "", "", numbers},
               {TrendScope::kFamily, "nlp", "", numbers},
               {TrendScope::kReason, "say \"no\"", "GB0170", numbers}};
  return fold;
}

std::string Written(const std::vector<TrendFold>& folds, const SeriesGroup& group = {"breakwatch", ""}) {
  std::string text;
  WriteOpenMetrics(folds, group, [&](std::string_view chunk) { text.append(chunk); });
  return text;
}

TEST(OpenMetricsTest, HasTheNamesOfTheRecordingRulesAndTimesInSeconds) {
  const std::string text = Written({SampleFold("2026-03-01T02:00:00.999Z")});
  const std::string at = " 1772330400\n";
  EXPECT_THAT(text, HasSubstr("# HELP breakwatch:full_graph:ratio Share of models with numbers that have no break.\n"
                              "# TYPE breakwatch:full_graph:ratio gauge\n"
                              "breakwatch:full_graph:ratio{job=\"breakwatch\"} 0.75" +
                              at));
  EXPECT_THAT(text, HasSubstr("family:breakwatch_models_tracked:count{job=\"breakwatch\",family=\"nlp\"} 5" + at));
  EXPECT_THAT(text, HasSubstr("breakwatch:compile_breaks_per_model:ratio{job=\"breakwatch\"} 1.5" + at));
  EXPECT_THAT(text,
              HasSubstr(R"(reason:compile_models:count{job="breakwatch",reason="say \"no\"",gb_id="GB0170"} 1)" + at));
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

TEST(OpenMetricsTest, HasEachMetricOnceWithTheSamplesOfASeriesInOrder) {
  const std::string text = Written({SampleFold("2026-03-01T02:00:00Z"), SampleFold("2026-03-02T02:00:00Z")});
  EXPECT_THAT(text, HasSubstr("family:full_graph:ratio{job=\"breakwatch\",family=\"nlp\"} 0.75 1772330400\n"
                              "family:full_graph:ratio{job=\"breakwatch\",family=\"nlp\"} 0.75 1772416800\n"));
  std::size_t types = 0;
  for (auto at = text.find("# TYPE family:full_graph:ratio"); at != text.npos;
       at = text.find("# TYPE family:full_gr", at + 1))
    ++types;
  EXPECT_EQ(types, 1u);
}

TEST(OpenMetricsTest, OmitsWhatTheRulesDoNotRecord) {
  TrendFold fold = SampleFold("2026-03-01T02:00:00Z");
  for (TrendRow& row : fold.rows) row.numbers = {.models_tracked = 5};
  const std::string text = Written({fold});
  EXPECT_THAT(text, HasSubstr("breakwatch:full_graph:ratio{job=\"breakwatch\"} 0 "));
  EXPECT_THAT(text, HasSubstr("breakwatch:models_with_numbers:count{job=\"breakwatch\"} 0 "));
  for (const char* name : {"breakwatch:compile_breaks:sum", "compile_breaks_per_model", "family:compile_break_sites",
                           "reason:compile_models:count"})
    EXPECT_THAT(text, Not(HasSubstr(name)));
}

TEST(OpenMetricsTest, LeavesOutTheLeverageOfAllPoolsIfThereAreSeveral) {
  const std::string text = Written({SampleFold("2026-03-01T02:00:00Z")}, {"breakwatch", "eu"});
  EXPECT_THAT(text, HasSubstr("breakwatch:models_tracked:count{job=\"breakwatch\",pool=\"eu\"} 5 "));
  EXPECT_THAT(text, HasSubstr("breakwatch_reason_leverage{job=\"breakwatch\",pool=\"eu\",reason="));
  EXPECT_THAT(text, Not(HasSubstr("reason:breakwatch_leverage:sum")));
  EXPECT_THAT(Written({SampleFold("2026-03-01T02:00:00Z")}), HasSubstr("reason:breakwatch_leverage:sum{job="));
}

TEST(OpenMetricsTest, IsOnlyItsEndWithoutTrends) { EXPECT_EQ(Written({}), "# EOF\n"); }

}  // namespace
}  // namespace breakwatch
