#include <gtest/gtest.h>

#include "breakwatch/compare/attribute.h"
#include "sample_results.h"

namespace breakwatch::compare {
namespace {

std::vector<CombinationResult> CombinationsOf(const std::vector<std::optional<Events>>& events, unsigned step = 1) {
  std::vector<CombinationResult> combinations;
  for (unsigned i = 0; i < events.size(); ++i) {
    CombinationResult combination;
    combination.combination = i * step;
    if (events[i]) combination.result = Captured("org/name", *events[i]);
    combinations.push_back(combination);
  }
  return combinations;
}

TEST(BisectTest, NamesTheOneFactorThatMovedEverySite) {
  const auto found = Bisect("org/name", 3, CombinationsOf({Events{}, Events{{"a", 2}}, Events{}, Events{{"a", 2}}}));
  EXPECT_EQ(found.verdict.cause, Cause::kAlone);
  EXPECT_EQ(found.verdict.factors, kTorch);
  EXPECT_EQ(found.text, "torch changed it");
  ASSERT_EQ(found.sites.size(), 1u);
  EXPECT_EQ(found.sites[0].after, 2);
}

TEST(BisectTest, AttributesEverySiteToItsOwnFactor) {
  const auto found = Bisect(
      "org/name", 3,
      CombinationsOf({Events{{"old", 1}}, Events{{"a", 2}, {"old", 1}}, Events{{"b", 1}}, Events{{"a", 2}, {"b", 1}}}));
  EXPECT_EQ(found.verdict.cause, Cause::kEach);
  EXPECT_EQ(found.verdict.factors, kTorch | kTransformers);
  ASSERT_EQ(found.sites.size(), 3u);
  EXPECT_EQ(found.sites[0].by.factors, kTorch);
  EXPECT_EQ(found.sites[1].by.factors, kTransformers);
  EXPECT_EQ(found.sites[2].site.site_id, "old");
  EXPECT_EQ(found.sites[2].by.factors, kTransformers);
}

TEST(BisectTest, ReportsThatTwoFactorsWereNeeded) {
  const auto found = Bisect("org/name", 3, CombinationsOf({Events{}, Events{}, Events{}, Events{{"a", 1}}}));
  EXPECT_EQ(found.verdict.cause, Cause::kTogether);
  EXPECT_EQ(found.text, "torch and transformers changed it together: it changes only if all of them are new");
}

TEST(BisectTest, ReportsWhatIsKnownIfACombinationHasNoResult) {
  const auto found = Bisect("org/name", 3, CombinationsOf({Events{}, Events{}, std::nullopt, Events{{"a", 1}}}));
  EXPECT_EQ(found.verdict.factors, kTransformers);
  EXPECT_EQ(found.text, "transformers changed it, as far as known: some combinations could not be captured");
  const auto nothing = Bisect("org/name", 3, CombinationsOf({Events{}, std::nullopt, std::nullopt, Events{{"a", 1}}}));
  EXPECT_EQ(nothing.verdict.cause, Cause::kUnknown);
}

TEST(BisectTest, IgnoresAFailedCombinationIfBothEndsHaveNumbers) {
  auto combinations = CombinationsOf({Events{}, Events{}, Events{}, Events{{"a", 1}}});
  combinations[2].result = Failed("org/name", Status::kFailedCreate, "ImportError");
  const auto found = Bisect("org/name", 3, combinations);
  EXPECT_EQ(found.verdict.factors, kTransformers);
  EXPECT_FALSE(found.verdict.certain);
}

TEST(BisectTest, AttributesAStatusWhereAnEndHasNoNumbers) {
  auto combinations = CombinationsOf({Events{}, Events{}, Events{}, Events{}});
  combinations[1].result = combinations[3].result = Failed("org/name", Status::kFailedEager, "RuntimeError");
  const auto found = Bisect("org/name", 3, combinations);
  EXPECT_EQ(found.verdict.cause, Cause::kAlone);
  EXPECT_EQ(found.verdict.factors, kTorch);
  EXPECT_TRUE(found.sites.empty());
}

TEST(BisectTest, AttributesAChangeToACommitAlone) {
  const auto found = Bisect("org/name", kCommit, CombinationsOf({Events{}, Events{{"a", 1}}}, kCommit));
  EXPECT_EQ(found.text, "the model's commit changed it");
  EXPECT_EQ(Bisect("org/name", kCommit, CombinationsOf({Events{}, Events{}}, kCommit)).verdict.cause, Cause::kNothing);
}

TEST(BisectTest, ReportsThatAnEndIsMissing) {
  const auto found = Bisect("org/name", kCommit, CombinationsOf({Events{}, std::nullopt}, kCommit));
  EXPECT_EQ(found.verdict.cause, Cause::kUnknown);
  EXPECT_NE(found.text.find("could not be captured"), std::string::npos);
}

}  // namespace
}  // namespace breakwatch::compare
