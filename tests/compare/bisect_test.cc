#include <gtest/gtest.h>

#include "breakwatch/compare/attribute.h"
#include "sample_results.h"

namespace breakwatch::compare {
namespace {

std::vector<CornerResult> CornersOf(const std::vector<std::optional<Events>>& events, unsigned step = 1) {
  std::vector<CornerResult> corners;
  for (unsigned i = 0; i < events.size(); ++i) {
    CornerResult corner;
    corner.corner = i * step;
    if (events[i]) corner.result = Captured("org/name", *events[i]);
    corners.push_back(corner);
  }
  return corners;
}

TEST(BisectTest, NamesTheOneFactorThatMovedEverySite) {
  const auto found = Bisect("org/name", 3, CornersOf({Events{}, Events{{"a", 2}}, Events{}, Events{{"a", 2}}}));
  EXPECT_EQ(found.verdict.cause, Cause::kAlone);
  EXPECT_EQ(found.verdict.factors, kTorch);
  EXPECT_EQ(found.text, "torch changed it");
  ASSERT_EQ(found.sites.size(), 1u);
  EXPECT_EQ(found.sites[0].after, 2);
}

TEST(BisectTest, GivesEverySiteItsOwnFactor) {
  const auto found = Bisect(
      "org/name", 3,
      CornersOf({Events{{"old", 1}}, Events{{"a", 2}, {"old", 1}}, Events{{"b", 1}}, Events{{"a", 2}, {"b", 1}}}));
  EXPECT_EQ(found.verdict.cause, Cause::kEach);
  EXPECT_EQ(found.verdict.factors, kTorch | kTransformers);
  ASSERT_EQ(found.sites.size(), 3u);
  EXPECT_EQ(found.sites[0].by.factors, kTorch);
  EXPECT_EQ(found.sites[1].by.factors, kTransformers);
  EXPECT_EQ(found.sites[2].site.site_id, "old");
  EXPECT_EQ(found.sites[2].by.factors, kTransformers);
}

TEST(BisectTest, SaysThatTwoWereNeeded) {
  const auto found = Bisect("org/name", 3, CornersOf({Events{}, Events{}, Events{}, Events{{"a", 1}}}));
  EXPECT_EQ(found.verdict.cause, Cause::kTogether);
  EXPECT_EQ(found.text, "torch and transformers changed it together: it changes only if all of them are new");
}

TEST(BisectTest, SaysWhatIsKnownWhenACornerCannotBeBuilt) {
  const auto found = Bisect("org/name", 3, CornersOf({Events{}, Events{}, std::nullopt, Events{{"a", 1}}}));
  EXPECT_EQ(found.verdict.factors, kTransformers);
  EXPECT_EQ(found.text, "transformers changed it, as far as known: some combinations could not be captured");
  const auto nothing = Bisect("org/name", 3, CornersOf({Events{}, std::nullopt, std::nullopt, Events{{"a", 1}}}));
  EXPECT_EQ(nothing.verdict.cause, Cause::kUnknown);
}

TEST(BisectTest, TakesAFailedCornerForAMissingOneBetweenEndsWithNumbers) {
  auto corners = CornersOf({Events{}, Events{}, Events{}, Events{{"a", 1}}});
  corners[2].result = Failed("org/name", Status::kFailedCreate, "ImportError");
  const auto found = Bisect("org/name", 3, corners);
  EXPECT_EQ(found.verdict.factors, kTransformers);
  EXPECT_FALSE(found.verdict.certain);
}

TEST(BisectTest, AttributesAStatusWhereAnEndHasNoNumbers) {
  auto corners = CornersOf({Events{}, Events{}, Events{}, Events{}});
  corners[1].result = corners[3].result = Failed("org/name", Status::kFailedEager, "RuntimeError");
  const auto found = Bisect("org/name", 3, corners);
  EXPECT_EQ(found.verdict.cause, Cause::kAlone);
  EXPECT_EQ(found.verdict.factors, kTorch);
  EXPECT_TRUE(found.sites.empty());
}

TEST(BisectTest, JudgesACommitAlone) {
  const auto found = Bisect("org/name", kCommit, CornersOf({Events{}, Events{{"a", 1}}}, kCommit));
  EXPECT_EQ(found.text, "the model's commit changed it");
  EXPECT_EQ(Bisect("org/name", kCommit, CornersOf({Events{}, Events{}}, kCommit)).verdict.cause, Cause::kNothing);
}

TEST(BisectTest, SaysThatAnEndIsMissing) {
  const auto found = Bisect("org/name", kCommit, CornersOf({Events{}, std::nullopt}, kCommit));
  EXPECT_EQ(found.verdict.cause, Cause::kUnknown);
  EXPECT_NE(found.text.find("could not be captured"), std::string::npos);
}

}  // namespace
}  // namespace breakwatch::compare
