// `breakwatch store`: what the store has, whether it is damaged, and what repairs it.
#include <filesystem>

#include "breakwatch/store/writer_lock.h"
#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

namespace fs = std::filesystem;

class StoreCommandTest : public SweptTest {
 protected:
  void Damage() { Sql("UPDATE results SET document = '{' WHERE model = 'org/clean'"); }
};

TEST_F(CommandTest, StoreCommandsNameTheStoreThatThereIsNot) {
  for (const char* command : {"info", "check", "rebuild", "finish", "repair"}) {
    EXPECT_THAT(Run(std::string("store ") + command), Fails(kExitFailure, StateDir())) << command;
  }
  EXPECT_FALSE(fs::exists(StateDir())) << "a command that reads makes no directory";
}

TEST_F(StoreCommandTest, InfoCountsWhatTheStoreHas) {
  EXPECT_THAT(Run("store info"), Prints("models        3"));
  const auto info = RunJson("store info");
  EXPECT_EQ(info["models"], 3);
  EXPECT_EQ(info["newest_sweep"], Store()->Sweeps(1)->at(0).id);
  EXPECT_EQ(info["events"], *Store()->NewestEventId());
  EXPECT_EQ(info["store"], "sqlite:" + StateDir() + "/breakwatch.db");
}

TEST_F(StoreCommandTest, CheckFindsNothingInASoundStore) {
  EXPECT_THAT(Run("store check"), Prints("ok: sqlite:" + StateDir()));
  EXPECT_EQ(RunJson("store check")["damage"].size(), 0u);
}

TEST_F(StoreCommandTest, CheckNamesWhatIsDamagedAndWhatRepairsIt) {
  Damage();
  const Ran ran = Run("store check");
  EXPECT_THAT(ran, Fails(kExitStore, "`breakwatch store repair`"));
  EXPECT_THAT(ran.out, HasSubstr("model org/clean"));
  const auto damage = RunJson("store check", kExitStore)["damage"];
  EXPECT_EQ(damage[0]["table"], "results");
  EXPECT_EQ(damage[0]["model"], "org/clean");
}

TEST_F(StoreCommandTest, ReadingSkipsWhatIsDamagedAndSaysSo) {
  Damage();
  const Ran ran = Run("report --format csv");
  EXPECT_THAT(ran, Fails(kExitStore, "`breakwatch store check`"));
  EXPECT_THAT(ran.out, HasSubstr("org/broken,"));
  EXPECT_THAT(ran.out, Not(HasSubstr("org/clean,")));
}

TEST_F(StoreCommandTest, RepairKeepsEverythingElse) {
  Damage();
  const auto repaired = RunJson("store repair");
  EXPECT_EQ(repaired["lost_rows"], 1);
  EXPECT_EQ(repaired["lost"][0]["model"], "org/clean");
  EXPECT_TRUE(fs::exists(repaired["damaged"].get<std::string>()));
  EXPECT_TRUE(fs::exists(repaired["lost_file"].get<std::string>()));
  EXPECT_THAT(Run("store check"), Succeeds());
  EXPECT_THAT(Run("report --format csv"), Prints("org/broken,"));
}

TEST_F(StoreCommandTest, RepairLeavesASoundStoreAlone) {
  EXPECT_THAT(Run("store repair"), Prints("no damage"));
  EXPECT_THAT(Run("store repair --json"), Succeeds());
}

TEST_F(StoreCommandTest, RepairListsWhatItLost) {
  Damage();
  const Ran ran = Run("store repair");
  EXPECT_THAT(ran, Prints("1 row lost"));
  EXPECT_THAT(ran, Prints("damaged database  "));
}

TEST_F(StoreCommandTest, RebuildComputesTheSameStateAgain) {
  const auto before = *Store()->LoadCurrent();
  EXPECT_THAT(Run("store rebuild"), Prints("rebuilt: 3 models"));
  const auto after = *Store()->LoadCurrent();
  EXPECT_EQ(before.models, after.models);
  EXPECT_EQ(before.meta, after.meta);
}

TEST_F(StoreCommandTest, FinishWritesTheReportsThatAreMissing) {
  EXPECT_THAT(Run("store finish"), Prints("written: 0 reports"));
  fs::remove_all(StateDir() + "/sweeps");
  const Ran ran = Run("store finish");
  EXPECT_THAT(ran, Prints("written: 1 report"));
  EXPECT_THAT(ran, Prints(StateDir() + "/sweeps/" + Store()->Sweeps(1)->at(0).id));
  EXPECT_TRUE(fs::exists(StateDir() + "/latest/results.jsonl"));
}

TEST_F(StoreCommandTest, ChangesNothingBesideAnotherWriter) {
  const auto lock = store::WriterLock::Take(StateDir());
  ASSERT_TRUE(lock.ok());
  for (const char* command : {"rebuild", "finish", "repair"}) {
    EXPECT_THAT(Run(std::string("store ") + command), Fails(kExitStore, "in use by process")) << command;
  }
  EXPECT_THAT(Run("store check"), Succeeds());
  EXPECT_THAT(Run("show org/clean"), Succeeds());
}

}  // namespace
}  // namespace breakwatch::commands
