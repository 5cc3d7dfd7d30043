// Attribute, against truth tables that are evaluated independently.
#include "breakwatch/compare/attribute.h"

#include <gtest/gtest.h>

#include <bit>

namespace breakwatch::compare {
namespace {

CombinationValues Of(unsigned truth) {
  CombinationValues values;
  for (unsigned combination = 0; combination < kCombinations; ++combination)
    values[combination] = truth >> combination & 1;
  return values;
}

// The factors on which a function of all three depends.
unsigned DependsOn(unsigned truth) {
  unsigned factors = 0;
  for (const unsigned factor : {1u, 2u, 4u}) {
    for (unsigned combination = 0; combination < kCombinations; ++combination) {
      if ((truth >> combination & 1) != (truth >> (combination ^ factor) & 1)) factors |= factor;
    }
  }
  return factors;
}

Cause Expected(unsigned truth) {
  const unsigned first = truth & 1, last = truth >> 7 & 1, factors = DependsOn(truth);
  if (first == last) return Cause::kNothing;
  if (std::popcount(factors) == 1) return Cause::kAlone;
  bool together = true, any = true;
  for (unsigned combination = 0; combination < kCombinations; ++combination) {
    const bool is_new = (truth >> combination & 1) == last;
    together = together && is_new == ((combination & factors) == factors);
    any = any && is_new == ((combination & factors) != 0);
  }
  return together ? Cause::kTogether : any ? Cause::kAny : Cause::kInteraction;
}

TEST(AttributeTest, AttributesEveryPatternOfEightCombinations) {
  for (unsigned truth = 0; truth < 256; ++truth) {
    const Attribution by = Attribute(Of(truth), kAllFactors);
    EXPECT_EQ(CauseName(by.cause), CauseName(Expected(truth))) << truth;
    EXPECT_TRUE(by.certain) << truth;
    if (by.cause != Cause::kNothing) {
      EXPECT_EQ(by.factors, DependsOn(truth)) << truth;
    }
  }
}

// Each combination is unknown, old or new. An attribution is certain only if no unknown combination can change it.
TEST(AttributeTest, IsCertainOnlyWithEveryCombination) {
  unsigned certain = 0, unknown = 0;
  for (unsigned pattern = 0; pattern < 6561; ++pattern) {
    CombinationValues values;
    bool whole = true;
    for (unsigned combination = 0, rest = pattern; combination < kCombinations; ++combination, rest /= 3) {
      if (rest % 3 != 0) values[combination] = rest % 3 - 1;
      whole = whole && values[combination].has_value();
    }
    const Attribution by = Attribute(values, kAllFactors);
    unknown += by.cause == Cause::kUnknown;
    certain += by.certain;
    EXPECT_EQ(by.cause == Cause::kUnknown || by.cause == Cause::kNothing, by.factors == 0) << pattern;
    EXPECT_EQ(by.certain, whole || by.cause == Cause::kNothing) << pattern;
    EXPECT_EQ(by.cause == Cause::kNothing, values[0] && values[7] && *values[0] == *values[7]) << pattern;
  }
  EXPECT_GT(certain, 256u);
  EXPECT_GT(unknown, 0u);
}

TEST(AttributeTest, AttributesEachFactorsShareIfTheSharesAddUp) {
  CombinationValues values;
  for (unsigned combination = 0; combination < kCombinations; ++combination) {
    values[combination] = 5 + 3 * static_cast<int>(combination & 1) - 2 * static_cast<int>(combination >> 2 & 1);
  }
  const Attribution by = Attribute(values, kAllFactors);
  EXPECT_EQ(by.cause, Cause::kEach);
  EXPECT_EQ(by.factors, kTorch | kCommit);
}

TEST(AttributeTest, LooksOnlyAtFactorsThatDiffer) {
  CombinationValues values;
  values[0] = 1, values[kCommit] = 4;
  const Attribution by = Attribute(values, kCommit);
  EXPECT_EQ(by.cause, Cause::kAlone);
  EXPECT_EQ(by.factors, kCommit);
  EXPECT_TRUE(by.certain);
}

TEST(AttributeTest, IsUncertainWithOneMixedCombination) {
  CombinationValues values;
  values[0] = 0, values[kTorch] = 0, values[kTorch | kTransformers] = 7;
  const Attribution by = Attribute(values, kTorch | kTransformers);
  EXPECT_EQ(by.cause, Cause::kAlone);
  EXPECT_EQ(by.factors, kTransformers);
  EXPECT_FALSE(by.certain) << "transformers with the old torch was not tried";
  EXPECT_EQ(by.missing, 1u << kTransformers);
}

TEST(AttributeTest, IsUnknownForTwoFactorsWithoutAMixedCombination) {
  CombinationValues values;
  values[0] = 0, values[kTorch | kTransformers] = 7;
  EXPECT_EQ(Attribute(values, kTorch | kTransformers).cause, Cause::kUnknown);
  values[0] = 7;
  EXPECT_EQ(Attribute(values, kTorch | kTransformers).cause, Cause::kNothing);
}

}  // namespace
}  // namespace breakwatch::compare
