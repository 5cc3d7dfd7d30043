#include "breakwatch/core/unblock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace breakwatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int64_t> Weights(const std::vector<UnblockStep>& steps) {
  std::vector<std::int64_t> weights;
  for (const UnblockStep& step : steps) weights.push_back(step.weight);
  return weights;
}

// The most weight that `count` of `sites` sites can make whole, by trying all choices.
std::int64_t BestOf(const std::vector<BlockedModel>& models, int sites, int count) {
  std::int64_t best = 0;
  for (unsigned choice = 0; choice < (1U << sites); ++choice) {
    if (std::popcount(choice) > count) continue;
    std::int64_t weight = 0;
    for (const BlockedModel& model : models) {
      const bool whole = !model.sites.empty() && std::all_of(model.sites.begin(), model.sites.end(),
                                                             [&](int site) { return choice >> site & 1; });
      weight += whole ? model.weight : 0;
    }
    best = std::max(best, weight);
  }
  return best;
}

TEST(UnblockTest, AModelIsWholeOnlyWhenAllOfItsSitesAreChanged) {
  const std::vector<BlockedModel> models{{{0, 1}}, {{0, 1}}, {{2}}};
  const auto steps = Unblock(models, 10);
  EXPECT_THAT(Weights(steps), ElementsAre(1, 2, 3));
  EXPECT_THAT(steps[0].sites, ElementsAre(2));
  EXPECT_THAT(steps[1].sites, ElementsAre(0, 1)) << "a larger choice need not contain a smaller one";
  EXPECT_THAT(steps[2].sites, ElementsAre(0, 1, 2));
}

TEST(UnblockTest, EndsWhenAllModelsAreWholeOrTheLimitIsReached) {
  const std::vector<BlockedModel> models{{{0}}, {{1}}, {{2}}, {{3}}};
  EXPECT_THAT(Weights(Unblock(models, 2)), ElementsAre(1, 2));
  EXPECT_EQ(Unblock(models, 100).size(), 4U);
  EXPECT_THAT(Unblock({}, 5), IsEmpty());
  EXPECT_THAT(Unblock(std::vector<BlockedModel>{{{}, 7}}, 5), IsEmpty()) << "no site to change";
  EXPECT_THAT(Unblock(models, 0), IsEmpty());
}

TEST(UnblockTest, WeighsModels) {
  const std::vector<BlockedModel> models{{{0}, 10}, {{1}, 3}, {{1}, 4}, {{1, 1, 1}, 4}};
  const auto steps = Unblock(models, 5);
  EXPECT_THAT(steps[0].sites, ElementsAre(1));
  EXPECT_THAT(Weights(steps), ElementsAre(11, 21));
}

TEST(UnblockTest, FindsWhatAGreedyChoiceMisses) {
  // The most for one site is site 0; two sites are best spent on 1 and 2.
  const std::vector<BlockedModel> models{{{0}, 5}, {{1, 2}, 9}, {{0, 3}, 3}};
  const auto steps = Unblock(models, 3);
  EXPECT_THAT(Weights(steps), ElementsAre(5, 9, 14));
  EXPECT_TRUE(std::all_of(steps.begin(), steps.end(), [](const UnblockStep& s) { return s.exact; }));
}

TEST(UnblockTest, EqualsAllChoicesTriedOnRandomModels) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int sites = 1 + static_cast<int>(random() % 9);
    std::vector<BlockedModel> models(1 + random() % 12);
    for (BlockedModel& model : models) {
      for (unsigned n = random() % 4; n-- > 0;) model.sites.push_back(static_cast<int>(random() % sites));
      model.weight = 1 + static_cast<std::int64_t>(random() % 20);
    }
    const auto steps = Unblock(models, 6);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      ASSERT_EQ(steps[k].weight, BestOf(models, sites, static_cast<int>(k) + 1)) << "round " << round;
      ASSERT_LE(steps[k].sites.size(), k + 1);
    }
  }
}

TEST(UnblockTest, SaysWhereTheSearchWasGivenUp) {
  std::mt19937 random(11);
  std::vector<BlockedModel> models(300);
  for (BlockedModel& model : models) {
    for (int n = 0; n < 4; ++n) model.sites.push_back(static_cast<int>(random() % 60));
  }
  const auto steps = Unblock(models, 20, /*effort=*/1000);
  ASSERT_EQ(steps.size(), 20U);
  EXPECT_FALSE(steps.back().exact);
  EXPECT_TRUE(
      std::is_sorted(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.weight < b.weight; }));
}

}  // namespace
}  // namespace breakwatch
