#include <gtest/gtest.h>

#include "breakwatch/core/capture.h"

namespace breakwatch {
namespace {

TEST(ToolchainRefTest, IsANameAloneOrWithAnInterpreter) {
  EXPECT_EQ(ParseToolchainRef("old"), (ToolchainRef{"old", ""}));
  EXPECT_EQ(ParseToolchainRef("old=/opt/old/bin/python"), (ToolchainRef{"old", "/opt/old/bin/python"}));
  EXPECT_EQ(ParseToolchainRef("old=/opt/a=b/bin/python"), (ToolchainRef{"old", "/opt/a=b/bin/python"}));
  EXPECT_EQ(ParseToolchainRef("old="), (ToolchainRef{"old", ""}));
  EXPECT_EQ(ParseToolchainRef(""), ToolchainRef{});
}

TEST(ToolchainRefTest, IsParsedFromItsText) {
  for (const char* text : {"", "old", "old=/opt/old/bin/python"}) EXPECT_EQ(ParseToolchainRef(text).Text(), text);
}

}  // namespace
}  // namespace breakwatch
