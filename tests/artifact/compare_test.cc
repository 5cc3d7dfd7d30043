#include "compare.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "artifact/safetensors_text.h"

namespace breakwatch::artifact {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

// Keeps the bytes that a tensor refers to.
struct Held {
  std::string bytes;
  TensorBytes tensor;
  Held(const char* dtype, std::string all, std::vector<std::int64_t> shape) : bytes(std::move(all)) {
    tensor = {DTypeOfFile(dtype), std::move(shape), bytes};
  }
};

Comparison Floats(const std::vector<float>& expected, const std::vector<float>& actual, Tolerance tolerance = {}) {
  const auto held = [](const std::vector<float>& values) {
    std::string bytes;
    for (const float value : values) bytes += BytesOf(value);
    return Held("F32", bytes, {static_cast<std::int64_t>(values.size())});
  };
  const Held one = held(expected), other = held(actual);
  return Compare(one.tensor, other.tensor, tolerance);
}

template <class T>
Comparison Pair(const char* dtype, T expected, T actual) {
  const Held one(dtype, BytesOf(expected), {1}), other(dtype, BytesOf(actual), {1});
  return Compare(one.tensor, other.tensor, {0.1, 0.1});
}

TEST(CompareTest, FindsEqualOutputsWithin) {
  const Comparison found = Floats({1, -2, 0, kInfinity}, {1, -2, -0.0f, kInfinity});
  EXPECT_TRUE(found.within);
  EXPECT_EQ(found.why, "");
  EXPECT_EQ(found.max_abs, 0);
  EXPECT_EQ(found.max_ulp, 0u);
  EXPECT_THAT(found.worst, IsEmpty());
}

TEST(CompareTest, AppliesBothPartsOfTheTolerance) {
  EXPECT_TRUE(Floats({100}, {101}, {0.01, 0}).within);
  EXPECT_FALSE(Floats({100}, {101.1f}, {0.01, 0}).within);
  EXPECT_TRUE(Floats({0}, {0.01f}, {0.5, 0.011}).within);
  EXPECT_FALSE(Floats({0}, {0.01f}, {0.5, 0.009}).within);
}

TEST(CompareTest, NamesTheElementFurthestFromItsTolerance) {
  // The largest difference is well within its tolerance; the second element is not.
  const Comparison found = Floats({1000, 1, 1}, {1005, 1.5f, 1}, {0.01, 0});
  EXPECT_FALSE(found.within);
  EXPECT_EQ(found.max_abs, 5);
  EXPECT_EQ(found.max_rel, 0.5);
  EXPECT_THAT(found.worst, ElementsAre(1));
  EXPECT_THAT(found.why, HasSubstr("tolerance"));
}

TEST(CompareTest, GivesIndicesInEveryDimension) {
  const Held expected("F32", BytesOf(0.f, 0.f, 0.f, 0.f, 0.f, 0.f), {2, 3});
  const Held actual("F32", BytesOf(0.f, 0.f, 0.f, 0.f, 0.f, 1.f), {2, 3});
  EXPECT_THAT(Compare(expected.tensor, actual.tensor, {}).worst, ElementsAre(1, 2));
}

TEST(CompareTest, CountsNumbersBetween) {
  EXPECT_EQ(Floats({1}, {std::nextafter(1.0f, 2.0f)}).max_ulp, 1u);
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(Floats({-least}, {least}).max_ulp, 2u);  // across zero
  EXPECT_EQ(Pair<std::uint16_t>("F16", 0x3c00, 0x3c03).max_ulp, 3u);
  EXPECT_EQ(Pair<std::uint16_t>("BF16", 0x3f80, 0x3f82).max_ulp, 2u);
  EXPECT_EQ(Pair<double>("F64", 1.0, std::nextafter(1.0, 2.0)).max_ulp, 1u);
}

TEST(CompareTest, ReadsHalfPrecision) {
  EXPECT_EQ(Pair<std::uint16_t>("F16", 0x3c00, 0x4000).max_abs, 1.0);                   // 1 and 2
  EXPECT_EQ(Pair<std::uint16_t>("F16", 0x0001, 0x0000).max_abs, std::ldexp(1.0, -24));  // the least number
  EXPECT_EQ(Pair<std::uint16_t>("F16", 0x7bff, 0xfbff).max_abs, 2 * 65504.0);
  EXPECT_TRUE(Pair<std::uint16_t>("F16", 0x7c00, 0x7c00).within);       // infinity
  EXPECT_EQ(Pair<std::uint16_t>("BF16", 0x3f80, 0x4040).max_abs, 2.0);  // 1 and 3
}

TEST(CompareTest, AcceptsNanOnlyWhereItIsExpected) {
  EXPECT_TRUE(Floats({kNan, 1}, {-kNan, 1}).within);
  const Comparison found = Floats({kNan, 1}, {1, 1}, {1, 1});
  EXPECT_FALSE(found.within);
  EXPECT_FALSE(found.nan_positions_equal);
  EXPECT_THAT(found.worst, ElementsAre(0));
  EXPECT_EQ(found.why, "NaN in other places");
}

TEST(CompareTest, AcceptsAnInfinityOnlyWhereItIsExpected) {
  EXPECT_FALSE(Floats({1}, {kInfinity}, {10, 10}).within);
  EXPECT_FALSE(Floats({kInfinity}, {1}, {10, 10}).within);
  EXPECT_FALSE(Floats({kInfinity}, {-kInfinity}, {10, 10}).within);
  EXPECT_FALSE(Floats({1}, {kInfinity}).max_abs.has_value());
}

TEST(CompareTest, RequiresEqualIntegersWhateverTheTolerance) {
  EXPECT_FALSE(Pair<std::int64_t>("I64", 1, 2).within);
  EXPECT_FALSE(Pair<std::uint8_t>("BOOL", 0, 1).within);
  EXPECT_TRUE(Pair<std::int8_t>("I8", -3, -3).within);
  // As doubles these are equal.
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  EXPECT_FALSE(Pair<std::int64_t>("I64", large, large - 1).within);
  const auto ends =
      Pair<std::int64_t>("I64", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(ends.within);
  EXPECT_FALSE(ends.max_ulp.has_value());
}

TEST(CompareTest, ComparesBothPartsOfComplexNumbers) {
  const Held expected("C64", BytesOf(1.f, 2.f), {1}), actual("C64", BytesOf(1.f, 3.f), {1});
  const Comparison found = Compare(expected.tensor, actual.tensor, {});
  EXPECT_FALSE(found.within);
  EXPECT_THAT(found.worst, ElementsAre(0, 1));
}

TEST(CompareTest, RefusesAnotherShapeOrType) {
  const Held one("F32", BytesOf(1.f, 2.f), {2}), other("F32", BytesOf(1.f, 2.f), {1, 2}),
      third("I32", BytesOf(1, 2), {2});
  EXPECT_EQ(Compare(one.tensor, other.tensor, {1, 1}).why, "it is float32 [1, 2] instead of float32 [2]");
  EXPECT_EQ(Compare(one.tensor, third.tensor, {1, 1}).why, "it is int32 [2] instead of float32 [2]");
}

TEST(CompareTest, MeasuresTheDirection) {
  EXPECT_NEAR(*Floats({3, 4}, {6, 8}).cosine, 1.0, 1e-12);
  EXPECT_NEAR(*Floats({1, 0}, {0, 1}).cosine, 0.0, 1e-12);
  EXPECT_FALSE(Floats({0, 0}, {0, 0}).cosine.has_value());
}

}  // namespace
}  // namespace breakwatch::artifact
