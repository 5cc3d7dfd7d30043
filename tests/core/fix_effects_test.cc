#include "breakwatch/core/fix_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/core/fixability.h"

namespace breakwatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

BreakSite SiteOf(const std::string& id, const std::string& reason, const std::string& frame = "library") {
  BreakSite site;
  site.site_id = id, site.reason = reason, site.gb_id = "GB1", site.frame = frame, site.occurrences = 1;
  return site;
}

FixAttempt AttemptOf(std::vector<std::string> names, const std::string& kind, const std::string& outcome,
                     std::vector<std::string> removed) {
  FixAttempt attempt;
  attempt.names = std::move(names), attempt.kinds = {kind};
  attempt.status = outcome.empty() ? "failed" : "ok", attempt.outcome = outcome;
  attempt.removed = std::move(removed);
  return attempt;
}

TEST(FixEffectsTest, AFixRemovesAReasonOnlyWithAllOfItsSites) {
  TriedFixes tried;
  tried.attempts = {AttemptOf({"scalars"}, "setting", "better", {"a"}),
                    AttemptOf({"no_cache"}, "call", "better", {"a", "b"})};
  const FixEffects effects =
      EffectsOf(tried, std::vector{SiteOf("a", "branch"), SiteOf("b", "branch"), SiteOf("c", "print")});
  ASSERT_EQ(effects.reasons.size(), 2u);
  EXPECT_THAT(effects.OfReason("branch", "GB1")->removed_by, ElementsAre("no_cache"));
  EXPECT_THAT(effects.OfReason("print", "GB1")->removed_by, IsEmpty());
  EXPECT_EQ(effects.OfReason("branch", "GB2"), nullptr);
  EXPECT_THAT(effects.outcomes, ElementsAre(Pair("no_cache", "better"), Pair("scalars", "better")));
  EXPECT_FALSE(effects.IsWhole());
}

TEST(FixEffectsTest, TheRecommendedFixesHaveTheirOwnOutcome) {
  TriedFixes tried;
  tried.attempts = {AttemptOf({"scalars"}, "setting", "better", {"a"}),
                    AttemptOf({"scalars", "no_cache"}, "call", "whole", {"a", "b"})};
  tried.best = 1;
  const FixEffects effects = EffectsOf(tried, std::vector{SiteOf("a", "branch"), SiteOf("b", "branch")});
  EXPECT_EQ(effects.best, "scalars+no_cache");
  EXPECT_TRUE(effects.IsWhole());
  EXPECT_THAT(effects.outcomes, ElementsAre(Pair("scalars", "better"), Pair("scalars+no_cache", "whole")));
}

TEST(FixEffectsTest, WhatFailedChangedResultsOrLeftPartsOutRemovesNothing) {
  TriedFixes tried;
  tried.attempts = {AttemptOf({"crashes"}, "setting", "", {"a"}),
                    AttemptOf({"eager"}, "call", "different_result", {"a"}),
                    AttemptOf({"regions"}, "regions", "better", {"a"})};
  const std::vector sites{SiteOf("a", "branch")};
  const FixEffects effects = EffectsOf(tried, sites);
  EXPECT_THAT(effects.reasons.front().removed_by, IsEmpty());
  EXPECT_THAT(effects.outcomes, ElementsAre(Pair("eager", "different_result"), Pair("regions", "better")));
  EXPECT_EQ(FixabilityOf(&tried, sites.front()), kNeedsSource);
}

TEST(FixEffectsTest, ATrialOfChosenFixesSaysNothingOfTheOthers) {
  TriedFixes tried;
  tried.chosen = {"scalars"};
  tried.attempts = {AttemptOf({"scalars"}, "setting", "better", {"a"})};
  const FixEffects effects = EffectsOf(tried, std::vector{SiteOf("a", "branch"), SiteOf("b", "print")});
  EXPECT_THAT(effects.sites, ElementsAre(Pair("a", kFixedBySetting), Pair("b", kUntested)));
}

TEST(FixEffectsTest, ATrialThatItsBudgetEndedSaysNothingOfTheFixesLeft) {
  TriedFixes tried;
  tried.stopped = "budget";
  tried.attempts = {AttemptOf({"scalars"}, "setting", "better", {"a"})};
  const FixEffects effects = EffectsOf(tried, std::vector{SiteOf("a", "branch"), SiteOf("b", "print")});
  EXPECT_THAT(effects.sites, ElementsAre(Pair("a", kFixedBySetting), Pair("b", kUntested)));
}

TEST(FixEffectsTest, ATrialOfChosenFixesReplacesNoTrialOfAllOnTheSameCommit) {
  FixEffects all, chosen, elsewhere;
  all.commit = chosen.commit = "c1", elsewhere.commit = "c2";
  chosen.chosen = elsewhere.chosen = {"scalars"};
  EXPECT_FALSE(Replaces(chosen, all));
  EXPECT_TRUE(Replaces(elsewhere, all));
  EXPECT_TRUE(Replaces(all, chosen));
  EXPECT_TRUE(Replaces(chosen, chosen));
  EXPECT_TRUE(Replaces(chosen, {}));
}

TEST(FixabilityTest, TellsWhatRemovedASite) {
  TriedFixes tried;
  tried.attempts = {AttemptOf({"no_cache"}, "call", "better", {"a", "b"}),
                    AttemptOf({"scalars"}, "setting", "better", {"a"})};
  EXPECT_EQ(FixabilityOf(&tried, SiteOf("a", "r")), kFixedBySetting);
  EXPECT_EQ(FixabilityOf(&tried, SiteOf("b", "r")), kFixedByCall);
  EXPECT_EQ(FixabilityOf(&tried, SiteOf("c", "r")), kNeedsSource);
  EXPECT_EQ(FixabilityOf(&tried, SiteOf("c", "r", "torch")), kNeedsTorch);
  EXPECT_EQ(FixabilityOf(nullptr, SiteOf("a", "r")), kUntested);
}

TEST(FixabilityTest, SitesThatGoTogetherAskTheMostOfAnyAndModelsWhatMostSay) {
  const std::string_view sites[] = {kFixedBySetting, kNeedsSource, kFixedByCall};
  EXPECT_EQ(FixabilityOfAll(sites), kNeedsSource);
  EXPECT_EQ(FixabilityOfAll({}), kUntested);
  const std::string_view models[] = {kUntested, kUntested, kUntested, kNeedsTorch, kFixedBySetting};
  EXPECT_EQ(MostSeen(models), kFixedBySetting) << "of equally many the one that asks the least";
  EXPECT_EQ(MostSeen(std::span(models).first(2)), kUntested);
}

}  // namespace
}  // namespace breakwatch
