#include "breakwatch/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_results.h"

namespace breakwatch::compare {
namespace {

Verdict VerdictOf(const ModelResult& a, const ModelResult& b) { return CompareModel(a, b).verdict; }

TEST(CompareTest, FewerBreaksAreBetterAndMoreAreWorse) {
  const auto clean = Captured("m", {}), one = Captured("m", {{"a", 1}}), two = Captured("m", {{"a", 2}});
  EXPECT_EQ(VerdictOf(clean, one), Verdict::kWorse);
  EXPECT_EQ(VerdictOf(two, one), Verdict::kBetter);
  EXPECT_EQ(VerdictOf(one, clean), Verdict::kBetter);
  EXPECT_EQ(VerdictOf(one, one), Verdict::kSame);
  EXPECT_EQ(VerdictOf(two, Captured("m", {{"a", 1}, {"b", 1}})), Verdict::kWorse) << "as many events at more sites";
}

TEST(CompareTest, EachQuantityHasItsDirection) {
  const auto with = [](std::int64_t fallbacks, std::int64_t recompiles, std::int64_t ops) {
    auto result = Captured("m", {{"a", 1}});
    result.capture.frames_fallback = fallbacks, result.capture.recompiles = recompiles;
    result.capture.ops_captured = ops;
    return result;
  };
  const auto base = with(1, 1, 100);
  EXPECT_EQ(VerdictOf(base, with(2, 1, 100)), Verdict::kWorse);
  EXPECT_EQ(VerdictOf(base, with(1, 2, 100)), Verdict::kWorse);
  EXPECT_EQ(VerdictOf(base, with(1, 1, 99)), Verdict::kWorse) << "fewer captured operations";
  EXPECT_EQ(VerdictOf(base, with(0, 1, 100)), Verdict::kBetter);
  EXPECT_EQ(VerdictOf(base, with(1, 0, 100)), Verdict::kBetter);
  EXPECT_EQ(VerdictOf(base, with(1, 1, 101)), Verdict::kBetter);
  const auto mixed = CompareModel(base, with(0, 1, 99));
  EXPECT_EQ(mixed.verdict, Verdict::kMixed);
  EXPECT_EQ(mixed.changes,
            (std::vector<QuantityChange>{{"frames_fallback", 1, 0, false}, {"ops_captured", 100, 99, true}}));
  EXPECT_EQ(CompareModel(base, with(1, 1, 99), {.quantities = {"ops_captured"}}).verdict, Verdict::kSame);
}

TEST(CompareTest, OperationsOfAnotherSizeAreNotCompared) {
  auto a = Captured("m", {}), b = Captured("m", {});
  a.capture.ops_captured = 100, b.capture.ops_captured = 50;
  a.capture.params = 1000, b.capture.params = 500;
  EXPECT_EQ(VerdictOf(a, b), Verdict::kSame);
}

TEST(CompareTest, ANewSiteIsWorseEvenIfThereAreFewerBreaks) {
  const auto a = Captured("m", {{"a", 5}}), b = Captured("m", {{"b", 1}});
  EXPECT_EQ(VerdictOf(a, b), Verdict::kWorse);
  EXPECT_EQ(CompareModel(a, b, {.new_sites = true}).verdict, Verdict::kBetter);
}

TEST(CompareTest, AModelWhoseRepeatedCapturesDifferIsFlaky) {
  auto flaky = Captured("m", {{"a", 2}});
  flaky.capture.flaky = true;
  const auto m = CompareModel(Captured("m", {{"a", 1}}), flaky);
  EXPECT_EQ(m.verdict, Verdict::kFlaky);
  EXPECT_THAT(m.why, testing::HasSubstr("breaks 1 -> 2"));
  EXPECT_EQ(VerdictOf(flaky, flaky), Verdict::kSame);
}

TEST(CompareTest, ResultsOfSeveralModesAreMatchedByMode) {
  auto train = Captured("m", {{"a", 3}});
  train.capture.mode = "train";
  auto worse = train;
  worse.capture.breaks = 4;
  const std::vector<ModelResult> a = {Captured("m", {}), train}, b = {Captured("m", {}), worse};
  const Comparison c = Compare({"old", a}, {"new", b});
  ASSERT_EQ(c.models.size(), 2u);
  EXPECT_EQ(c.models[0].mode, "train");
  EXPECT_EQ(c.models[0].verdict, Verdict::kWorse);
  EXPECT_EQ(c.models[1].mode, "eval");
}

TEST(CompareTest, ReportsNewAndGoneSites) {
  const auto m = CompareModel(Captured("m", {{"a", 2}, {"b", 2}, {"c", 1}}), Captured("m", {{"b", 3}, {"c", 1}}));
  EXPECT_EQ(m.verdict, Verdict::kBetter);
  ASSERT_EQ(m.gone_sites.size(), 1u);
  EXPECT_EQ(m.gone_sites[0].site.site_id, "a");
  ASSERT_EQ(m.changed_sites.size(), 1u);
  EXPECT_EQ(m.changed_sites[0].before, 2);
  EXPECT_EQ(m.changed_sites[0].after, 3);
  EXPECT_TRUE(m.new_sites.empty());
}

TEST(CompareTest, ReportsASiteThatReplacesAnother) {
  const auto m = CompareModel(Captured("m", {{"a", 1}}), Captured("m", {{"b", 1}}), {.new_sites = true});
  EXPECT_EQ(m.verdict, Verdict::kSame);
  EXPECT_EQ(m.new_sites.size(), 1u);
  EXPECT_EQ(m.gone_sites.size(), 1u);
}

TEST(CompareTest, ReportsWhyModelsCannotBeCompared) {
  const auto good = Captured("m", {});
  const auto failed = Failed("m", Status::kFailedEager, "RuntimeError: sizes");
  EXPECT_EQ(CompareModel(good, failed).why, "full_graph -> failed_eager: RuntimeError: sizes");
  EXPECT_EQ(VerdictOf(failed, failed), Verdict::kSame);
  EXPECT_EQ(VerdictOf(failed, Failed("m", Status::kTimeout, "late")), Verdict::kNoBaseline);
  auto other = good;
  other.capture.architecture = "BetaModel", other.capture.dtype = "bfloat16";
  EXPECT_EQ(CompareModel(good, other).why, "class AlphaModel -> BetaModel, dtype float32 -> bfloat16");
  EXPECT_EQ(VerdictOf(good, other), Verdict::kNoBaseline);
}

TEST(CompareTest, LosingNumbersIsWorseWhateverTheCauseAndGainingThemIsBetter) {
  const auto good = Captured("m", {{"a", 1}});
  for (const Status status :
       {Status::kFailedCapture, Status::kFailedEager, Status::kTimeout, Status::kOutOfMemory, Status::kCrashed,
        Status::kQuarantined, Status::kSkippedMissingDependency, Status::kSkippedGated, Status::kNotAttempted}) {
    EXPECT_EQ(VerdictOf(good, Failed("m", status, "")), Verdict::kWorse) << StatusName(status);
    EXPECT_EQ(VerdictOf(Failed("m", status, ""), good), Verdict::kBetter) << StatusName(status);
  }
}

TEST(CompareTest, NamesWhatIsUnlikeAndComparesAllTheSame) {
  const auto a = Captured("m", {{"a", 1}});
  auto b = Captured("m", {{"a", 1}});
  b.capture.toolchain.torch = "2.16.0", b.capture.inputs_digest = "only here", b.capture.mode = "train";
  const auto m = CompareModel(a, b);
  EXPECT_EQ(m.verdict, Verdict::kSame);
  EXPECT_EQ(m.differences, (std::vector<Difference>{{"torch", "2.15.0", "2.16.0"}, {"mode", "eval", "train"}}));
}

TEST(CompareTest, CountsSitesOnlyWhereDepthsDiffer) {
  auto reduced = Captured("m", {{"a", 2}});
  reduced.capture.depth = "reduced";
  EXPECT_EQ(VerdictOf(reduced, Captured("m", {{"a", 24}})), Verdict::kSame);
  EXPECT_EQ(VerdictOf(reduced, Captured("m", {{"a", 1}, {"b", 1}})), Verdict::kWorse);
  reduced = Captured("m", {});
  reduced.capture.depth = "reduced";
  EXPECT_EQ(VerdictOf(reduced, Captured("m", {{"a", 24}})), Verdict::kWorse);
}

TEST(CompareTest, TotalsBothWaysAndByReason) {
  const std::vector<ModelResult> a = {Captured("same", {{"a", 1}}), Captured("fixed", {{"a", 2}, {"b1", 1}}),
                                      Captured("gone", {{"a", 9}}), Captured("failing", {{"a", 7}})};
  const std::vector<ModelResult> b = {Captured("same", {{"a", 1}}), Captured("fixed", {{"b1", 1}, {"b2", 1}}),
                                      Captured("new", {{"c", 5}}), Failed("failing", Status::kCrashed, "signal 11")};
  const Comparison c = Compare({"old", a}, {"new", b}, {.new_sites = true});
  ASSERT_EQ(c.models.size(), 5u);
  EXPECT_EQ(c.models[0].model, "failing");
  EXPECT_EQ(c.models[1].model, "gone");
  EXPECT_EQ(c.models[2].model, "fixed");
  EXPECT_EQ(
      c.verdicts,
      (std::map<Verdict, std::int64_t>{
          {Verdict::kBetter, 1}, {Verdict::kWorse, 1}, {Verdict::kNew, 1}, {Verdict::kGone, 1}, {Verdict::kSame, 1}}));
  EXPECT_EQ(c.all_a, (Totals{.models = 4, .broken = 4, .events = 20, .sites = 5}));
  EXPECT_EQ(c.all_b, (Totals{.models = 4, .broken = 3, .without_numbers = 1, .events = 8, .sites = 4}));
  EXPECT_EQ(c.compared_a, (Totals{.models = 2, .broken = 2, .events = 4, .sites = 3}));
  EXPECT_EQ(c.compared_b, (Totals{.models = 2, .broken = 2, .events = 3, .sites = 3}));
  ASSERT_EQ(c.reasons.size(), 2u) << "of compared models only";
  EXPECT_EQ(c.reasons[0].reason, "a");
  EXPECT_EQ(c.reasons[0].events_a, 3);
  EXPECT_EQ(c.reasons[0].events_b, 1);
  EXPECT_EQ(c.reasons[0].models_a, 2);
  EXPECT_EQ(c.reasons[1].sites_b, 2);
}

TEST(CompareTest, PutsTheWorstFirst) {
  const std::vector<ModelResult> a = {Captured("a", {{"x", 2}}), Captured("b", {}), Captured("c", {})};
  const std::vector<ModelResult> b = {Captured("a", {}), Captured("b", {}), Captured("c", {{"x", 1}})};
  const Comparison c = Compare({"a", a}, {"b", b});
  EXPECT_EQ(c.models[0].model, "c");
  EXPECT_EQ(c.models[1].model, "a");
  EXPECT_EQ(c.models[2].model, "b");
}

}  // namespace
}  // namespace breakwatch::compare
