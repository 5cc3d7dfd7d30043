#include "breakwatch/wiring/toolchains.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fakes/environment_variable.h"

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
  const fakes::EnvironmentVariable set("BREAKWATCH_DATA_DIR", "/opt/data");
  EXPECT_EQ(WithPrimary({}).capture.worker, (Command{"/opt/data/.venv/bin/python", "-m", "breakwatch_worker"}));
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
