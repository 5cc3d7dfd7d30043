#include "breakwatch/core/trend_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace breakwatch {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const TrendQuery& query, std::string_view prefix = "") {
  const auto filter = ParseTrendQuery(query, prefix);
  if (filter) return "no error";
  EXPECT_EQ(filter.error().code, ErrorCode::kUsage);
  return filter.error().message;
}

TEST(TrendQueryTest, SelectsEveryPublishedDayIfNothingIsGiven) {
  const auto filter = ParseTrendQuery({}, "");
  ASSERT_TRUE(filter.ok());
  EXPECT_EQ(filter->by, TrendScope::kAll);
  EXPECT_FALSE(filter->since || filter->until);
  EXPECT_EQ(filter->name + filter->gb_id + filter->toolchain, "");
  EXPECT_EQ(filter->mode, "eval");
}

TEST(TrendQueryTest, SelectsTheScopeByAFamilyOrAReason) {
  const auto family = ParseTrendQuery({.family = "audio"}, "");
  EXPECT_EQ(family->by, TrendScope::kFamily);
  EXPECT_EQ(family->name, "audio");
  const auto id = ParseTrendQuery({.reason = "GB0170"}, "");
  EXPECT_EQ(id->by, TrendScope::kReason);
  EXPECT_EQ(id->gb_id, "GB0170");
  EXPECT_EQ(id->name, "");
  EXPECT_EQ(ParseTrendQuery({.reason = "gb0170"}, "")->gb_id, "GB0170");
  EXPECT_EQ(ParseTrendQuery({.by = "reason", .reason = "GB"}, "")->name, "GB");
}

TEST(TrendQueryTest, TakesDaysInclusively) {
  const auto filter = ParseTrendQuery({.since = "2026-03-01", .until = "2026-03-01"}, "");
  ASSERT_TRUE(filter.ok());
  EXPECT_EQ(filter->since, filter->until);
}

TEST(TrendQueryTest, NamesTheParameterAsItsReaderKnowsIt) {
  EXPECT_THAT(ErrorOf({.since = "yesterday"}), HasSubstr("since: \"yesterday\" is no day; expected the form"));
  EXPECT_THAT(ErrorOf({.until = "2026-02-30"}, "--"), HasSubstr("--until: \"2026-02-30\" is no day"));
  EXPECT_THAT(ErrorOf({.since = "2026-03-02", .until = "2026-03-01"}, "--"),
              HasSubstr("--since 2026-03-02 is after --until 2026-03-01"));
  EXPECT_THAT(ErrorOf({.by = "model"}), HasSubstr("by: expected all, family or reason"));
  EXPECT_THAT(ErrorOf({.family = "audoi"}), HasSubstr("did you mean \"audio\"?"));
  for (const TrendQuery& query :
       {TrendQuery{.by = "reason", .family = "nlp"}, TrendQuery{.by = "family", .reason = "x"},
        TrendQuery{.family = "nlp", .reason = "x"}})
    EXPECT_THAT(ErrorOf(query), HasSubstr("give one of them"));
}

}  // namespace
}  // namespace breakwatch
