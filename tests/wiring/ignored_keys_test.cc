#include <gtest/gtest.h>

#include <set>
#include <string>

#include "breakwatch/wiring/wiring.h"
#include "fakes/environment_variable.h"

namespace breakwatch::wiring {
namespace {

TEST(IgnoredConfigKeys, AreTheListedOnesAndApartThoseThatTrainingReads) {
  const fakes::EnvironmentVariable set("BREAKWATCH_DATA_DIR", BREAKWATCH_SOURCE_DIR);
  const auto keys = IgnoredConfigKeys();
  ASSERT_TRUE(keys);
  EXPECT_TRUE(keys->always.contains("transformers_version"));
  EXPECT_FALSE(keys->always.contains("problem_type"));
  EXPECT_TRUE(keys->outside_training.contains("problem_type"));
}

TEST(IgnoredConfigKeys, OfADirectoryThatLacksTheFileAreAnErrorThatNamesIt) {
  const fakes::EnvironmentVariable set("BREAKWATCH_DATA_DIR", "/nonexistent");
  const auto keys = IgnoredConfigKeys();
  ASSERT_FALSE(keys);
  EXPECT_NE(keys.error().message.find("/nonexistent/collectors/capture/structure_ignored.yaml"), std::string::npos);
}

}  // namespace
}  // namespace breakwatch::wiring
