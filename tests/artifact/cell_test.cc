#include "cell.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

namespace breakwatch::artifact {
namespace {

TEST(CellTest, SummarizesRunsInAnyOrder) {
  const Cell cell = Summarize({5, 1, 4, 2, 3});
  EXPECT_EQ(cell.runs, 5u);
  EXPECT_DOUBLE_EQ(cell.mean_s, 3);
  EXPECT_DOUBLE_EQ(cell.median_s, 3);
  EXPECT_DOUBLE_EQ(cell.p90_s, 4.6);
  EXPECT_DOUBLE_EQ(cell.low_s, 1);  // five runs say no more than their range
  EXPECT_DOUBLE_EQ(cell.high_s, 5);
}

TEST(CellTest, TakesASingleRun) {
  const Cell cell = Summarize({0.25});
  EXPECT_DOUBLE_EQ(cell.low_s, 0.25);
  EXPECT_DOUBLE_EQ(cell.p99_s, 0.25);
}

// Of 1,000 samples of 30 runs, about 950 intervals contain the true median.
TEST(CellTest, IntervalContainsTheMedianAsOftenAsStated) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> times(0.0, 0.5);  // its median is 1
  int contained = 0;
  for (int sample = 0; sample < 1'000; ++sample) {
    std::vector<double> seconds(30);
    for (double& second : seconds) second = times(random);
    const Cell cell = Summarize(seconds);
    contained += cell.low_s <= 1.0 && 1.0 <= cell.high_s ? 1 : 0;
  }
  EXPECT_GE(contained, 940);
  EXPECT_LE(contained, 985);
}

TEST(CellTest, HasNoNumbersIfNothingWasMeasured) {
  Cell cell;
  cell.status = "failed";
  cell.detail = "why";
  cell.failures = 1;
  EXPECT_EQ(ToJson(cell).dump(), R"({"status":"failed","detail":"why","runs":0,"failures":1})");
  EXPECT_TRUE(ToJson(Summarize({1.0})).contains("p95_s"));
}

}  // namespace
}  // namespace breakwatch::artifact
