// The times of two benchmarks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/compare/baseline.h"
#include "breakwatch/compare/gate.h"
#include "fakes/sample_measurement.h"

namespace breakwatch::compare {
namespace {

using fakes::MeasuredCapture;
using testing::HasSubstr;

ModelResult Result(const fakes::SampleTimes& times) {
  ModelResult result;
  result.info.id = "org/name";
  result.capture = MeasuredCapture(times);
  return result;
}

Verdict VerdictOf(const fakes::SampleTimes& a, const fakes::SampleTimes& b, const Ignored& ignored = {}) {
  return CompareModel(Result(a), Result(b), ignored).verdict;
}

TEST(LatencyTest, OnlyASignificantDifferenceCounts) {
  EXPECT_EQ(VerdictOf({{{"eager", 1.0}}}, {{{"eager", 1.01}}}), Verdict::kSame);
  EXPECT_EQ(VerdictOf({{{"eager", 1.0}}}, {{{"eager", 1.05}}}), Verdict::kWorse);
  EXPECT_EQ(VerdictOf({{{"eager", 1.05}}}, {{{"eager", 1.0}}}), Verdict::kBetter);
  EXPECT_EQ(VerdictOf({{{"eager", 1.0}, {"inductor", 1.0}}}, {{{"eager", 1.1}, {"inductor", 0.9}}}), Verdict::kMixed);
}

TEST(LatencyTest, ATolerancePassesASmallDifferenceInBothDirections) {
  const Ignored tolerant{.latency_tolerance = 0.1};
  EXPECT_EQ(VerdictOf({{{"eager", 1.0}}}, {{{"eager", 1.09}}}, tolerant), Verdict::kSame);
  EXPECT_EQ(VerdictOf({{{"eager", 1.0}}}, {{{"eager", 0.92}}}, tolerant), Verdict::kSame);
  EXPECT_EQ(VerdictOf({{{"eager", 1.0}}}, {{{"eager", 1.12}}}, tolerant), Verdict::kWorse);
  EXPECT_EQ(VerdictOf({{{"eager", 1.0}}}, {{{"eager", 2.0}}}, {.latency = true}), Verdict::kSame);
}

TEST(LatencyTest, ABackendOfOneSideIsListedAndNoChange) {
  const auto compared = CompareModel(Result({{{"eager", 1.0}}}), Result({{{"eager", 1.0}, {"inductor", 1.0}}}));
  EXPECT_EQ(compared.verdict, Verdict::kSame);
  ASSERT_EQ(compared.latencies.size(), 2u);
  EXPECT_FALSE(compared.latencies[1].a);
}

TEST(LatencyTest, TimesOfOtherConditionsAreNotCompared) {
  const auto compared = CompareModel(Result({{{"eager", 1.0}}, 1}), Result({{{"eager", 2.0}}, 4}));
  EXPECT_EQ(compared.verdict, Verdict::kNoBaseline);
  EXPECT_EQ(compared.why, "threads 1 -> 4");
}

TEST(LatencyTest, TimesOfAnotherMachineAreNotCompared) {
  const auto on = [](const std::string& machine) {
    ModelResult result = Result({{{"eager", machine == "EPYC" ? 1.0 : 2.0}}});
    result.capture.mode_detail_json = WithMachine(result.capture.mode_detail_json, machine);
    return result;
  };
  const auto compared = CompareModel(on("EPYC"), on("Xeon"));
  EXPECT_EQ(compared.verdict, Verdict::kNoBaseline);
  EXPECT_EQ(compared.why, "machine EPYC -> Xeon");
  EXPECT_EQ(CompareModel(on("EPYC"), on("EPYC")).verdict, Verdict::kSame);
  EXPECT_EQ(CompareModel(Result({{{"eager", 1.0}}}), on("Xeon")).verdict, Verdict::kWorse) << "one of an older version";
  const auto read = ParseBaseline("baseline.tsv", BaselineText(std::vector{on("EPYC")}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(CompareModel((*read)[0], on("Xeon")).why, "machine EPYC -> Xeon");
}

TEST(LatencyTest, ABaselineKeepsTimesAndTheirConditions) {
  const std::vector<ModelResult> results{Result({{{"eager", 0.00123456789}}, 2})};
  const std::string text = BaselineText(results);
  const auto read = ParseBaseline("baseline.tsv", text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(BaselineText(*read), text);
  EXPECT_EQ(CompareModel((*read)[0], results[0]).verdict, Verdict::kSame);
  EXPECT_EQ(CompareModel((*read)[0], Result({{{"eager", 0.002}}, 2})).verdict, Verdict::kWorse);
  EXPECT_EQ(CompareModel((*read)[0], Result({{{"eager", 0.002}}, 1})).verdict, Verdict::kNoBaseline);
  std::string broken = text;
  broken.replace(broken.find("{"), 1, "[");
  EXPECT_THAT(ParseBaseline("baseline.tsv", broken).error().message, HasSubstr("baseline.tsv:4: times: "));
}

TEST(LatencyTest, TheGateNamesTheTime) {
  const std::vector<ModelResult> a{Result({{{"eager", 0.001}}})}, b{Result({{{"eager", 0.002}}})};
  const Gated gated = CompareWithGate({"a", a}, {"b", b}, {});
  ASSERT_EQ(gated.gate.failures.size(), 1u);
  EXPECT_THAT(gated.gate.failures[0].text, HasSubstr("eager with batch 1 1.000 ms -> 2.000 ms (x2.00, p "));
}

}  // namespace
}  // namespace breakwatch::compare
