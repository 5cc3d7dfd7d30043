#include <gtest/gtest.h>

#include "breakwatch/core/json.h"

namespace breakwatch {
namespace {

TEST(CheckJsonTest, AcceptsADocumentWithinItsBounds) { EXPECT_TRUE(CheckJson(R"({"a":[1,{"b":"}]"}]})", 100, 3)); }

TEST(CheckJsonTest, ReportsWhereTheTextStopsBeingJson) {
  const auto checked = CheckJson(R"({"a":1,})", 100, 3);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kInvalid);
  EXPECT_NE(checked.error().message.find("byte 8"), std::string::npos) << checked.error().message;
}

TEST(CheckJsonTest, RefusesHostileNestingWithoutRecursing) {
  const std::string deep(5'000'000, '[');
  const auto checked = CheckJson(deep, deep.size(), 64);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("deeper than 64"), std::string::npos);
}

TEST(CheckJsonTest, RefusesWhatIsTooLargeBeforeReadingIt) {
  EXPECT_FALSE(CheckJson(std::string(101, ' '), 100, 3));
  EXPECT_FALSE(CheckJson("", 100, 3));
}

}  // namespace
}  // namespace breakwatch
