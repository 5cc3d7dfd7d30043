#include "breakwatch/core/mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace breakwatch {
namespace {

TEST(ModeTest, IsOneOfTheTableAloneOrWithACallVariant) {
  for (const char* name : {"eval", "cold", "recompile", "eval+minimal", "cold+all", "train+minimal"}) {
    EXPECT_TRUE(IsMode(name)) << name;
  }
  for (const char* name : {"", "+", "evil", "eval+", "eval+default", "eval+nonsense", "+minimal", "eval+minimal+all"}) {
    EXPECT_FALSE(IsMode(name)) << name;
  }
}

TEST(ModeTest, MeasureModesAreModesThatAreNotSelectedByAll) {
  for (const std::string_view name : kMeasureModes) {
    EXPECT_TRUE(IsMode(name)) << name;
    EXPECT_TRUE(IsMeasureMode(name)) << name;
    EXPECT_THAT(AllModes(), testing::Not(testing::Contains(name)));
    EXPECT_FALSE(IsMode(std::string(name) + "+minimal")) << name;
  }
  EXPECT_FALSE(IsMeasureMode("eval"));
}

TEST(ModeTest, PartsOfANameMakeTheName) {
  for (const std::string& name : AllModesWithCalls()) {
    const ModeParts parts = SplitMode(name);
    const std::string call = parts.call.empty() ? "" : "+" + std::string(parts.call);
    EXPECT_EQ(std::string(parts.mode) + call, name);
    EXPECT_TRUE(IsMode(parts.mode)) << name;
  }
}

TEST(ModeTest, EachValueOfTheSettingHasTheCallsOfTheOneBefore) {
  const std::vector<std::string> modes = {"eval", "train"};
  EXPECT_EQ(WithCalls(modes, "default"), modes);
  EXPECT_THAT(WithCalls(modes, "minimal"), testing::ElementsAre("eval", "eval+minimal", "train", "train+minimal"));
  EXPECT_THAT(WithCalls(modes, "all"),
              testing::ElementsAre("eval", "eval+minimal", "eval+all", "train", "train+minimal", "train+all"));
}

TEST(ModeTest, NoTwoHaveOneName) {
  const auto& all = AllModesWithCalls();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), AllModes().size() * AllCalls().size());
}

}  // namespace
}  // namespace breakwatch
