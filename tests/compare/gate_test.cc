#include "breakwatch/compare/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_results.h"

namespace breakwatch::compare {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::year;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kToday = year(2026) / month(11) / day(23);

AllowEntry Allowed(AllowEntry::Of of, const std::string& value) {
  return {of, value, false, "team-a", "waits for a release", kToday, "allow.yaml:2:3"};
}

Gated Decided(const std::vector<ModelResult>& a, const std::vector<ModelResult>& b,
              std::vector<AllowEntry> entries = {}, bool ignore_gone = false) {
  GateRules rules;
  rules.today = kToday, rules.ignore_gone = ignore_gone;
  rules.allowed.entries = std::move(entries);
  return CompareWithGate({"old", a}, {"new", b}, rules);
}

TEST(GateTest, FailsForAModelThatIsWorse) {
  const Gated g = Decided({Captured("m", {})}, {Captured("m", {{"a", 2}})});
  EXPECT_TRUE(g.gate.failed);
  ASSERT_EQ(g.gate.failures.size(), 1u);
  EXPECT_EQ(g.gate.failures[0].model, "m");
  EXPECT_EQ(g.gate.failures[0].text, "breaks 0 -> 2, break_sites 0 -> 1, 1 new site");
}

TEST(GateTest, PassesAndListsWhatIsBetter) {
  const Gated g = Decided({Captured("m", {{"a", 2}})}, {Captured("m", {})});
  EXPECT_FALSE(g.gate.failed);
  ASSERT_EQ(g.gate.improved.size(), 1u);
  EXPECT_THAT(g.gate.improved[0].text, HasSubstr("breaks 2 -> 0"));
}

TEST(GateTest, AModelWithNumbersThatIsGoneFailsUnlessIgnored) {
  const std::vector<ModelResult> a = {Captured("m", {}), Captured("gone", {})}, b = {Captured("m", {})};
  EXPECT_TRUE(Decided(a, b).gate.failed);
  EXPECT_FALSE(Decided(a, b, {}, /*ignore_gone=*/true).gate.failed);
  const std::vector<ModelResult> without = {Captured("m", {}), Failed("gone", Status::kTimeout, "late")};
  EXPECT_FALSE(Decided(without, b).gate.failed) << "it had no numbers to lose";
}

TEST(GateTest, AMissingPackageDoesNotTurnABuildGreen) {
  const Gated g =
      Decided({Captured("m", {{"a", 1}})}, {Failed("m", Status::kSkippedMissingDependency, "needs natten")});
  EXPECT_TRUE(g.gate.failed);
  EXPECT_THAT(g.gate.failures[0].text, HasSubstr("needs natten"));
  EXPECT_EQ(g.gate.with_numbers, "1 of 1 -> 0 of 1 results have numbers");
}

TEST(GateTest, WithoutABaselineItPasses) {
  const Gated g = Decided({}, {Captured("m", {{"a", 1}})});
  EXPECT_FALSE(g.gate.failed);
  EXPECT_TRUE(g.gate.no_baseline);
}

TEST(GateTest, AnAllowedModelIsListedAndDoesNotFail) {
  const Gated g = Decided({Captured("m", {})}, {Captured("m", {{"a", 1}})}, {Allowed(AllowEntry::Of::kModel, "m")});
  EXPECT_FALSE(g.gate.failed);
  ASSERT_EQ(g.gate.allowed.size(), 1u);
  EXPECT_THAT(g.gate.allowed[0].entry, HasSubstr("owner team-a"));
  EXPECT_THAT(g.gate.unused, IsEmpty());
}

TEST(GateTest, AnAllowedSiteIsNotCountedAndOthersStillAre) {
  const std::vector<ModelResult> a = {Captured("m", {{"a", 1}})};
  EXPECT_FALSE(Decided(a, {Captured("m", {{"a", 1}, {"b", 9}})}, {Allowed(AllowEntry::Of::kSite, "b")}).gate.failed);
  const Gated g = Decided(a, {Captured("m", {{"a", 2}, {"b", 9}})}, {Allowed(AllowEntry::Of::kSite, "b")});
  EXPECT_TRUE(g.gate.failed);
  EXPECT_EQ(g.gate.failures[0].text, "breaks 1 -> 2");
}

TEST(GateTest, AnAllowedReasonCoversItsSitesInEveryModel) {
  const Gated g =
      Decided({Captured("m", {}), Captured("n", {})}, {Captured("m", {{"r1", 1}}), Captured("n", {{"r2", 1}})},
              {Allowed(AllowEntry::Of::kReason, "r")});
  EXPECT_FALSE(g.gate.failed);
}

TEST(GateTest, AnExpiredEntryCoversNothingAndFailsWithItsOwner) {
  AllowEntry entry = Allowed(AllowEntry::Of::kModel, "m");
  entry.expires = year(2026) / month(11) / day(22);
  const Gated g = Decided({Captured("m", {})}, {Captured("m", {})}, {entry});
  EXPECT_TRUE(g.gate.failed);
  EXPECT_THAT(g.gate.expired, ElementsAre(HasSubstr("owner team-a, until 2026-11-22")));
}

TEST(GateTest, AnUnusedEntryIsReported) {
  const Gated g = Decided({Captured("m", {})}, {Captured("m", {})}, {Allowed(AllowEntry::Of::kSite, "nowhere")});
  EXPECT_FALSE(g.gate.failed);
  EXPECT_THAT(g.gate.unused, ElementsAre(HasSubstr("site nowhere")));
}

TEST(GateTest, AFlakyModelGetsItsOwnVerdict) {
  AllowEntry entry = Allowed(AllowEntry::Of::kModel, "m");
  entry.flaky = true;
  const Gated g = Decided({Captured("m", {})}, {Captured("m", {{"a", 1}})}, {entry});
  EXPECT_FALSE(g.gate.failed);
  EXPECT_EQ(g.comparison.models[0].verdict, Verdict::kFlaky);
  EXPECT_EQ(g.comparison.verdicts, (std::map<Verdict, std::int64_t>{{Verdict::kFlaky, 1}}));
}

TEST(GateTest, AFlakyModelThatIsBetterIsNotSuggestedForTheBaseline) {
  AllowEntry entry = Allowed(AllowEntry::Of::kModel, "m");
  entry.flaky = true;
  const Gated g = Decided({Captured("m", {{"a", 1}})}, {Captured("m", {})}, {entry});
  EXPECT_THAT(g.gate.improved, IsEmpty());
  EXPECT_EQ(g.comparison.models[0].verdict, Verdict::kFlaky);
  EXPECT_THAT(g.gate.unused, IsEmpty());
}

TEST(GateTest, WithoutABaselineAnExpiredEntryIsListedAndDoesNotFail) {
  AllowEntry entry = Allowed(AllowEntry::Of::kModel, "m");
  entry.expires = year(2026) / month(11) / day(22);
  const Gated g = Decided({}, {Captured("m", {})}, {entry});
  EXPECT_FALSE(g.gate.failed);
  EXPECT_EQ(g.gate.expired.size(), 1u);
}

TEST(GateTest, EntriesThatOverlapAreAllUsed) {
  const Gated g =
      Decided({Captured("m", {}), Captured("n", {})}, {Captured("m", {{"a", 1}}), Captured("n", {{"b", 1}})},
              {Allowed(AllowEntry::Of::kSite, "a"), Allowed(AllowEntry::Of::kReason, "a"),
               Allowed(AllowEntry::Of::kModel, "n"), Allowed(AllowEntry::Of::kModel, "n")});
  EXPECT_FALSE(g.gate.failed);
  EXPECT_THAT(g.gate.unused, IsEmpty());
}

TEST(GateTest, AnEntryOfAModelThatDoesNotFailIsUnused) {
  const Gated g = Decided({Captured("m", {})}, {Captured("m", {})}, {Allowed(AllowEntry::Of::kModel, "m")});
  EXPECT_THAT(g.gate.unused, ElementsAre(HasSubstr("model m")));
}

ModelResult WithCounts(ModelResult result, std::int64_t ops, std::int64_t recompiles = 0, std::int64_t fallbacks = 0) {
  result.capture.ops_captured = ops, result.capture.recompiles = recompiles;
  result.capture.frames_fallback = fallbacks;
  return result;
}

TEST(GateTest, WhatANewAllowedSiteChangesElseDoesNotFail) {
  const Gated g = Decided({WithCounts(Captured("m", {}), 100)}, {WithCounts(Captured("m", {{"b", 1}}), 60, 1, 1)},
                          {Allowed(AllowEntry::Of::kSite, "b")});
  EXPECT_FALSE(g.gate.failed);
}

TEST(GateTest, AnAllowedSiteThatDidNotChangeHidesNoLossOfOperations) {
  const Gated g = Decided({WithCounts(Captured("m", {{"b", 1}}), 100)}, {WithCounts(Captured("m", {{"b", 1}}), 60)},
                          {Allowed(AllowEntry::Of::kSite, "b")});
  EXPECT_TRUE(g.gate.failed);
}

TEST(GateTest, AnAllowedSiteOfOneModeHidesNoLossOfOperationsInAnother) {
  const auto train = [](ModelResult result) { return result.capture.mode = "train", result; };
  const Gated g = Decided({WithCounts(Captured("m", {}), 100), train(Captured("m", {}))},
                          {WithCounts(Captured("m", {}), 60), train(Captured("m", {{"b", 1}}))},
                          {Allowed(AllowEntry::Of::kSite, "b")});
  ASSERT_EQ(g.gate.failures.size(), 1u);
  EXPECT_EQ(g.gate.failures[0].mode, "eval");
}

}  // namespace
}  // namespace breakwatch::compare
