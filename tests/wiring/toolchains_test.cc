#include "breakwatch/wiring/toolchains.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fakes/environment_variable.h"
#include "fakes/temporary_directory.h"

namespace breakwatch::wiring {
namespace {

using Command = std::vector<std::string>;

config::Settings Configured() {
  config::Settings settings;
  settings.capture.toolchain = "newest";
  settings.capture.toolchains = {{"newest", "/opt/newest/bin/python"}, {"oldest", "/opt/oldest/bin/python"}};
  return settings;
}

TEST(WithPrimary, TakesTheInterpreterOfThePrimaryToolchain) {
  EXPECT_EQ(WithPrimary(Configured()).capture.worker, (Command{"/opt/newest/bin/python", "-m", "breakwatch_worker"}));
}

TEST(WithPrimary, TakesTheDefaultEnvironmentWhereNothingIsConfigured) {
  const fakes::EnvironmentVariable set("BREAKWATCH_DATA_DIR", BREAKWATCH_SOURCE_DIR);
  EXPECT_EQ(WithPrimary({}).capture.worker,
            (Command{BREAKWATCH_SOURCE_DIR "/.venv/bin/python", "-m", "breakwatch_worker"}));
}

// A folder for the program's data that is no source tree, and a home, both without toolchains.
class InstalledTest : public testing::Test {
 protected:
  void Make(const std::string& python) {
    folder_.Write(python, "#!/bin/sh\n");
    std::filesystem::permissions(folder_ / python, std::filesystem::perms::owner_all);
  }

  const fakes::TemporaryDirectory folder_;
  const fakes::EnvironmentVariable data_{"BREAKWATCH_DATA_DIR", folder_ / "data"};
  const fakes::EnvironmentVariable home_{"XDG_DATA_HOME", folder_ / "home"};
};

TEST_F(InstalledTest, ExpectsTheDefaultToolchainWhereSetupMakesIt) {
  const std::string usual =
      geteuid() == 0 ? std::string(kSystemToolchains) + "/older" : folder_ / "home/breakwatch/toolchains/older";
  EXPECT_EQ(NewToolchain("older"), usual);
}

TEST_F(InstalledTest, TakesTheToolchainsOfTheUserUnlessTheProgramHasItsOwn) {
  Make("home/breakwatch/toolchains/default/bin/python");
  Make("home/breakwatch/toolchains/older/bin/python");
  EXPECT_EQ(DefaultPython(), folder_ / "home/breakwatch/toolchains/default/bin/python");
  const auto older = WithToolchain({}, {"older"});
  ASSERT_TRUE(older);
  EXPECT_EQ(older->capture.worker.front(), folder_ / "home/breakwatch/toolchains/older/bin/python");
  Make("data/.venv/bin/python");
  EXPECT_EQ(DefaultPython(), folder_ / "data/.venv/bin/python");
}

TEST_F(InstalledTest, MakesToolchainsBesideASourceTree) {
  folder_.Write("data/CMakeLists.txt", "");
  EXPECT_EQ(NewToolchain("default"), folder_ / "data/.venv");
  EXPECT_EQ(NewToolchain("older"), folder_ / "data/.venv-older");
}

TEST(WithPrimary, LeavesTheWorkerThatTheUserSet) {
  config::Settings settings = Configured();
  settings.capture.worker = {".venv/bin/python", "-m", "breakwatch_worker"};
  EXPECT_EQ(WithPrimary(settings).capture.worker, settings.capture.worker);
}

TEST(WithToolchain, TakesTheInterpreterOfTheToolchainThatIsNamed) {
  const auto settings = WithToolchain(Configured(), {"oldest"});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->capture.worker.front(), "/opt/oldest/bin/python");
  EXPECT_EQ(settings->capture.toolchain, "oldest");
}

TEST(WithToolchain, ReplacesTheInterpreterOfTheUsersWorkerForOthersThanThePrimaryToolchain) {
  config::Settings settings = Configured();
  settings.capture.worker = {"/opt/own/python", "worker.py"};
  EXPECT_EQ(WithToolchain(settings, {"newest"})->capture.worker, settings.capture.worker);
  EXPECT_EQ(WithToolchain(settings, {"oldest"})->capture.worker, (Command{"/opt/oldest/bin/python", "worker.py"}));
}

TEST(WithToolchain, RejectsANameWithoutASetting) {
  const auto settings = WithToolchain(Configured(), {"missing"});
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, ErrorCode::kUsage);
  EXPECT_FALSE(WithToolchain(Configured(), {"../oldest"}));
  EXPECT_FALSE(WithToolchain(Configured(), {"../oldest", "/opt/mixed/bin/python"}));
}

TEST(WithToolchain, PrefersTheInterpreterThatIsGivenToTheConfiguredOne) {
  const auto settings = WithToolchain(Configured(), {"oldest", "/opt/mixed/bin/python"});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->capture.worker, (Command{"/opt/mixed/bin/python", "-m", "breakwatch_worker"}));
}

}  // namespace
}  // namespace breakwatch::wiring
