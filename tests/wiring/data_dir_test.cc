#include "data_dir.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "fakes/environment_variable.h"

namespace breakwatch::wiring {
namespace {

TEST(DataDir, IsTheOneThatTheEnvironmentNames) {
  const fakes::EnvironmentVariable set("BREAKWATCH_DATA_DIR", "/opt/breakwatch/data");
  EXPECT_EQ(DataDir(), "/opt/breakwatch/data");
  EXPECT_EQ(DataFile("collectors/hub/snapshot"), "/opt/breakwatch/data/collectors/hub/snapshot");
}

TEST(DataDir, IsTheCheckoutWhereTheWorkingDirectoryIsOne) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(BREAKWATCH_SOURCE_DIR);
  EXPECT_EQ(DataDir(), BREAKWATCH_SOURCE_DIR);
  std::filesystem::current_path(before);
}

TEST(ConfiguredFile, IsWhatTheUserWroteWhereItIsThere) {
  const fakes::EnvironmentVariable set("BREAKWATCH_DATA_DIR", "/opt/data");
  EXPECT_EQ(ConfiguredFile("python3"), "python3");
  EXPECT_EQ(ConfiguredFile("/usr/bin/python3"), "/usr/bin/python3");
  EXPECT_EQ(ConfiguredFile("no/such/file"), "/opt/data/no/such/file");
}

}  // namespace
}  // namespace breakwatch::wiring
