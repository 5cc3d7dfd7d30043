#include "pacer.h"

#include <gtest/gtest.h>

#include "fakes/fake_clock.h"

namespace breakwatch::hub {
namespace {

using namespace std::chrono_literals;

net::HttpResponse With(const std::string& header) { return {200, {{"ratelimit", header}}, ""}; }

TEST(RateLimitTest, ReadsTheHubsHeader) {
  const auto limit = ReadRateLimit(With("\"api\";r=499;t=295"));
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->bucket, "api");
  EXPECT_EQ(limit->remaining, 499);
  EXPECT_EQ(limit->until_reset, 295s);
  EXPECT_EQ(ReadRateLimit(With("\"resolvers\" ; r = 2 ; t = 7"))->until_reset, 7s);
}

TEST(RateLimitTest, IgnoresWhatItDoesNotUnderstand) {
  for (const char* text : {"", "\"api\"", "\"api\";r=x;t=1", "\"api\";t=1", "api;r=1;t=1", "\"api", "\"a\";r=-1;t=1"}) {
    EXPECT_FALSE(ReadRateLimit(With(text))) << text;
  }
  EXPECT_FALSE(ReadRateLimit({}));
  EXPECT_EQ(ReadRateLimit(With("\"api\";r=1;t=99999999"))->until_reset, 1h);
}

class PacerTest : public ::testing::Test {
 protected:
  std::chrono::milliseconds Wait(int in_flight = 0) { return pacer_.Wait("api", in_flight, clock_.Steady()); }
  void Note(int remaining, std::chrono::seconds until) { pacer_.Note({"api", remaining, until}, clock_.Steady()); }
  fakes::FakeClock clock_;
  Pacer pacer_;
};

TEST_F(PacerTest, LetsRequestsThroughWhileNothingIsKnown) { EXPECT_EQ(Wait(1000), 0ms); }

TEST_F(PacerTest, HoldsTheLastRequestOfAWindowUntilItsEnd) {
  Note(3, 60s);
  EXPECT_EQ(Wait(), 0ms);
  EXPECT_EQ(Wait(1), 0ms);
  EXPECT_EQ(Wait(2), 60s);
  clock_.Advance(45s);
  EXPECT_EQ(Wait(2), 15s);
  clock_.Advance(15s);
  EXPECT_EQ(Wait(2), 0ms);
}

TEST_F(PacerTest, CountsByTheLowestAnswerOfAWindow) {
  Note(5, 60s);
  Note(9, 60s);  // sent earlier, arrived later
  EXPECT_EQ(Wait(4), 60s);
}

TEST_F(PacerTest, StartsAgainWithANewWindow) {
  Note(0, 2s);
  EXPECT_EQ(Wait(), 2s);
  clock_.Advance(3s);
  Note(500, 300s);
  EXPECT_EQ(Wait(400), 0ms);
}

TEST_F(PacerTest, KeepsBucketsApart) {
  pacer_.Note({"resolvers", 0, 60s}, clock_.Steady());
  EXPECT_EQ(Wait(), 0ms);
}

}  // namespace
}  // namespace breakwatch::hub
