#include <gtest/gtest.h>

#include "breakwatch/net/http.h"

namespace breakwatch::net {
namespace {

using std::chrono::seconds;

HttpResponse With(Headers headers) { return {429, std::move(headers), ""}; }

TEST(RetryAfterTest, ReadsSeconds) { EXPECT_EQ(RetryAfter(With({{"retry-after", "7"}})), seconds(7)); }

TEST(RetryAfterTest, ReadsADateAgainstTheServersOwnClock) {
  EXPECT_EQ(
      RetryAfter(With({{"date", "Wed, 21 Oct 2015 07:28:00 GMT"}, {"retry-after", "Wed, 21 Oct 2015 07:29:30 GMT"}})),
      seconds(90));
}

TEST(RetryAfterTest, IsBoundedToAnHour) {
  EXPECT_EQ(RetryAfter(With({{"retry-after", "86400"}})), seconds(3600));
  EXPECT_EQ(RetryAfter(With({{"retry-after", "99999999999999999999999"}})), seconds(3600));
}

TEST(RetryAfterTest, IsZeroForThePast) {
  EXPECT_EQ(RetryAfter(With({{"retry-after", "-5"}})), seconds(0));
  EXPECT_EQ(RetryAfter(With({{"retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"}})), seconds(0));
}

TEST(RetryAfterTest, IsAbsentWithoutASense) {
  EXPECT_EQ(RetryAfter(With({})), std::nullopt);
  EXPECT_EQ(RetryAfter(With({{"retry-after", ""}})), std::nullopt);
  EXPECT_EQ(RetryAfter(With({{"retry-after", "soon"}})), std::nullopt);
}

}  // namespace
}  // namespace breakwatch::net
