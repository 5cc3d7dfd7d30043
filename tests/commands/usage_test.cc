// What is wrong on the command line itself, and what helps against it.
#include "commands/command_fixture.h"
#include "help.h"

namespace breakwatch::commands {
namespace {

using UsageTest = CommandTest;

TEST_F(UsageTest, NamesTheCommandThatWasProbablyMeant) {
  EXPECT_THAT(Run("swep"), Fails(kExitUsage, "unknown command \"swep\"; did you mean \"sweep\"?"));
}

TEST_F(UsageTest, NamesTheHelpForAWordThatIsNearToNoCommand) {
  const Ran ran = Run("frobnicate");
  EXPECT_THAT(ran, Fails(kExitUsage, "`breakwatch --help`"));
  EXPECT_THAT(ran.err, Not(HasSubstr("did you mean")));
}

TEST_F(UsageTest, NamesTheOptionThatWasProbablyMeant) {
  EXPECT_THAT(Run("sweep --hub.tpo 3"), Fails(kExitUsage, "did you mean \"--hub.top\"?"));
}

TEST_F(UsageTest, NamesTheHelpOfTheCommandThatWasTyped) {
  EXPECT_THAT(Run("store check --fast"), Fails(kExitUsage, "`breakwatch store check --help`"));
}

TEST_F(UsageTest, NeedsACommand) {
  EXPECT_THAT(Run(""), EndsWith(kExitUsage));
  EXPECT_THAT(Run("store"), EndsWith(kExitUsage));
}

TEST_F(UsageTest, NeedsTheArgumentsOfACommand) {
  EXPECT_THAT(Run("show"), Fails(kExitUsage, "model"));
  EXPECT_THAT(Run("compare latest"), Fails(kExitUsage, "old and new results"));
  EXPECT_THAT(Run("import trace --commit abc"), Fails(kExitUsage, "--model"));
}

TEST_F(UsageTest, RefusesValuesThatAnOptionDoesNotHave) {
  EXPECT_THAT(Run("compare previous latest --fail-on better"), Fails(kExitUsage, "--fail-on"));
  EXPECT_THAT(Run("discover train.py --max-depth 101"), Fails(kExitUsage, "--max-depth"));
  EXPECT_THAT(Run("dead-letters list --limit 0"), Fails(kExitUsage, "--limit"));
}

TEST_F(UsageTest, ExplainsHowASwitchTakesAValue) {
  EXPECT_THAT(Run("sweep --hub.offline true"), Fails(kExitUsage, "--hub.offline=true"));
}

TEST_F(UsageTest, RefusesASecretAsAFlagWithoutRepeatingIt) {
  for (const char* flag : {"--web.token hush", "--web.token=hush"}) {
    const Ran ran = Run(std::string("config check ") + flag);
    EXPECT_THAT(ran, Fails(kExitUsage, "web.token_file")) << flag;
    EXPECT_THAT(ran, Fails(kExitUsage, "BREAKWATCH_WEB_TOKEN")) << flag;
    EXPECT_THAT(ran.err, Not(HasSubstr("hush"))) << flag;
  }
}

TEST_F(UsageTest, RefusesInvalidSettingsBeforeAnythingRuns) {
  EXPECT_THAT(Run("sweep --hub.top many"), Fails(kExitConfig, "hub.top"));
  EXPECT_THAT(Run("sweep --config.file absent.yaml"), Fails(kExitConfig, "absent.yaml"));
  EXPECT_TRUE(lister_.Requests().empty());
}

TEST_F(UsageTest, ListsTheCommandsOnRequest) {
  const Ran ran = Run("--help");
  EXPECT_THAT(ran, Prints("sweep"));
  EXPECT_THAT(ran, Prints("dead-letters"));
  EXPECT_EQ(ran.err, "");
}

TEST_F(UsageTest, ExplainsEveryCommandOnRequest) {
  for (const CommandHelp& help : AllCommandHelp()) {
    const Ran ran = Run(std::string(help.name) + " --help");
    EXPECT_THAT(ran, Prints("Exit codes: 0 success")) << help.name;
    EXPECT_THAT(ran, Prints("breakwatch " + std::string(help.name))) << help.name;
    for (const std::string_view setting : help.settings) EXPECT_THAT(ran.out, HasSubstr(setting)) << help.name;
  }
}

TEST_F(UsageTest, PrintsTheVersion) {
  EXPECT_EQ(Run("version").out, "breakwatch 9.8.7\n");
  EXPECT_EQ(Run("--version").out, "breakwatch 9.8.7\n");
  EXPECT_EQ(RunJson("version"), (nlohmann::json{{"version", "9.8.7"}}));
}

TEST_F(UsageTest, PassesItsOptionsToARecordingOfTheHub) {
  EXPECT_THAT(Run("hub record mirror --model a/b --model c/d"), Prints("recorded 2 models in mirror"));
  EXPECT_THAT(Run("hub serve mirror --port 0"), Prints("served mirror at 127.0.0.1:0"));
}

}  // namespace
}  // namespace breakwatch::commands
