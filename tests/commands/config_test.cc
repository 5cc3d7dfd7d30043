// `breakwatch config`: what the settings are, where they came from, and what is wrong with them.
#include "commands/command_fixture.h"
#include "fakes/environment_variable.h"

namespace breakwatch::commands {
namespace {

class ConfigTest : public CommandTest {
 protected:
  nlohmann::json Setting(const std::string& key, const std::string& flags) {
    const auto shown = RunJson("config show " + flags);
    for (const auto& setting : shown["settings"]) {
      if (setting["key"] == key) return setting;
    }
    ADD_FAILURE() << key;
    return {};
  }
};

TEST_F(ConfigTest, ShowsWhereEachValueCameFrom) {
  folder_.Write("site.yaml", "hub:\n  top: 5\n  sort: likes\n");
  const std::string file = "--config.file " + (folder_ / "site.yaml");
  EXPECT_EQ(Setting("hub.top", file)["value"], 5);
  EXPECT_EQ(Setting("hub.top", file)["origin"], "file " + (folder_ / "site.yaml") + ":2:8");
  const fakes::EnvironmentVariable top("BREAKWATCH_HUB_TOP", "6");
  EXPECT_EQ(Setting("hub.top", file)["value"], 6);
  EXPECT_EQ(Setting("hub.top", file)["origin"], "environment BREAKWATCH_HUB_TOP");
  EXPECT_EQ(Setting("hub.top", file + " --hub.top 7")["value"], 7);
  EXPECT_EQ(Setting("hub.top", file + " --hub.top 7")["origin"], "flag --hub.top");
  EXPECT_EQ(Setting("hub.sort", file)["value"], "likes");
  EXPECT_EQ(Setting("hub.concurrency", file)["origin"], "default");
}

TEST_F(ConfigTest, TakesTheLastOfSeveralFilesAndFlags) {
  folder_.Write("a.yaml", "hub: {top: 1, retries: 2}\n");
  folder_.Write("b.yaml", "hub: {top: 3}\n");
  const std::string files = "--config.file " + (folder_ / "a.yaml") + " --config.file " + (folder_ / "b.yaml");
  EXPECT_EQ(Setting("hub.top", files)["value"], 3);
  EXPECT_EQ(Setting("hub.retries", files)["value"], 2);
  EXPECT_EQ(Setting("hub.top", "--hub.top 8 --hub.top 9")["value"], 9);
}

TEST_F(ConfigTest, TakesASwitchWithAndWithoutAValue) {
  EXPECT_EQ(Setting("hub.offline", "--hub.offline")["value"], true);
  EXPECT_EQ(Setting("hub.offline", "--hub.offline=false")["value"], false);
  EXPECT_EQ(Setting("hub.offline", "")["value"], false);
}

TEST_F(ConfigTest, HidesSecrets) {
  const fakes::EnvironmentVariable token("BREAKWATCH_WEB_TOKEN", "hush");
  EXPECT_EQ(Setting("web.token", "")["value"], "<secret>");
  EXPECT_THAT(Run("config show").out, Not(HasSubstr("hush")));
}

TEST_F(ConfigTest, NamesEveryProblemOfAFileByItsPlace) {
  folder_.Write("bad.yaml", "hub:\n  tpo: 5\nexporters:\n  pushgateway:\n    ulr: http://gateway\n");
  const Ran ran = Run("config check --config.file " + (folder_ / "bad.yaml"));
  EXPECT_THAT(ran, Fails(kExitConfig, "bad.yaml:2:3"));
  EXPECT_THAT(ran, Fails(kExitConfig, "did you mean \"top\"?"));
  EXPECT_THAT(ran, Fails(kExitConfig, "bad.yaml:5:5"));
  EXPECT_THAT(ran, Fails(kExitConfig, "did you mean \"url\"?"));
  EXPECT_EQ(ran.out, "");
}

TEST_F(ConfigTest, WarnsOnceOfAVariableThatIsNearToASetting) {
  const fakes::EnvironmentVariable near("BREAKWATCH_HUB_TPO", "5");
  EXPECT_THAT(Run("config check"), Prints("BREAKWATCH_HUB_TPO"));
  EXPECT_EQ(Run("config check").err, "");
  const Ran info = Run("store info");
  EXPECT_EQ(info.err.find("BREAKWATCH_HUB_TPO"), info.err.rfind("BREAKWATCH_HUB_TPO"));
  EXPECT_THAT(info.err, HasSubstr("warn: "));
}

TEST_F(ConfigTest, ExplainsASetting) {
  EXPECT_THAT(Run("config explain hub.top"), Prints("BREAKWATCH_HUB_TOP"));
  EXPECT_EQ(RunJson("config explain hub.top")[0]["flag"], "--hub.top");
  EXPECT_GT(RunJson("config explain capture.limits").size(), 3u);
  EXPECT_GT(RunJson("config explain").size(), 50u);
}

TEST_F(ConfigTest, NamesTheSettingThatWasProbablyMeant) {
  EXPECT_THAT(Run("config explain exporters.pushgateway.ulr"), Fails(kExitUsage, "exporters.pushgateway.url"));
}

TEST_F(ConfigTest, PrintsAnExampleThatChangesNothing) {
  folder_.Write("example.yaml", Run("config example").out);
  const Ran ran = Run("config check --config.file " + (folder_ / "example.yaml"));
  EXPECT_THAT(ran, Prints("ok: " + (folder_ / "example.yaml")));
  const auto shown = RunJson("config show --config.file " + (folder_ / "example.yaml"));
  for (const auto& setting : shown["settings"]) {
    if (setting["key"] == "state_dir") continue;  // a flag of every test
    EXPECT_EQ(setting["value"], setting["default"]) << setting["key"];
  }
}

}  // namespace
}  // namespace breakwatch::commands
