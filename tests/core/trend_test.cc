#include "breakwatch/core/trend.h"

#include <gtest/gtest.h>

#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

TEST(TrendTest, TakesTheDayOfATimeInUtc) {
  EXPECT_EQ(FormatDay(DayOf(*ParseTime("2026-03-01T00:00:00Z"))), "2026-03-01");
  EXPECT_EQ(FormatDay(DayOf(*ParseTime("2026-03-01T23:59:59.999999999Z"))), "2026-03-01");
  EXPECT_EQ(FormatDay(DayOf(SystemTime{})), "1970-01-01");
}

TEST(TrendTest, ReadsADayAsItWritesIt) {
  for (const char* day : {"1970-01-01", "2024-02-29", "2026-12-31", "2261-12-31"}) {
    ASSERT_TRUE(ParseDay(day)) << day;
    EXPECT_EQ(FormatDay(*ParseDay(day)), day);
  }
}

TEST(TrendTest, RefusesWhatIsNoDay) {
  for (const char* text : {"", "2026-3-1", "2026-02-29", "2026-13-01", "2026-03-01T00:00:00Z", "1969-12-31",
                           "2262-01-01", "9999-01-01", "2026/03/01", "yesterday!"}) {
    EXPECT_FALSE(ParseDay(text)) << text;
  }
}

TEST(TrendTest, NamesItsScopes) {
  for (const char* name : {"all", "family", "reason"}) EXPECT_EQ(TrendScopeName(*ParseTrendScope(name)), name);
  EXPECT_FALSE(ParseTrendScope("model"));
}

}  // namespace
}  // namespace breakwatch
