// `breakwatch sweep`: what it does, what it prints, and how it ends.
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "breakwatch/store/writer_lock.h"
#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

namespace fs = std::filesystem;
using Statuses_ = std::map<std::string, std::string>;

class SweepTest : public CommandTest {
 protected:
  SweepTest() { HubLists({FakeModel("org/a", 1, Config(1)), FakeModel("org/b", 2, Config(2))}); }
};

TEST_F(SweepTest, CapturesStoresPublishesAndPrints) {
  Workers().Script("org/a", GoodCapture({FakeSite("Dynamic shape operator", "GB0036", 3)}));
  const Ran ran = Run("sweep");
  EXPECT_THAT(ran, Prints("1 full_graph, 1 graph_breaks"));
  EXPECT_THAT(ran, Prints("Dynamic shape operator"));
  EXPECT_THAT(ran, Prints(StateDir() + "/latest/report.md"));
  EXPECT_EQ(Statuses(), (Statuses_{{"org/a", "graph_breaks"}, {"org/b", "full_graph"}}));
  ASSERT_FALSE(metrics_->Snapshots().empty());
  EXPECT_EQ(metrics_->Snapshots().back().models.size(), 2u);
  EXPECT_EQ(events_->Events().size(), static_cast<std::size_t>(*Store()->NewestEventId()));
  EXPECT_TRUE(fs::exists(StateDir() + "/latest/report.md"));
}

TEST_F(SweepTest, PrintsTheSameAsJsonAndNothingElse) {
  Workers().Script("org/a", GoodCapture({FakeSite("Dynamic shape operator", "GB0036", 3)}));
  const auto swept = RunJson("sweep");
  ASSERT_EQ(swept["results"].size(), 2u);
  EXPECT_EQ(swept["results"][0]["model"], "org/a");
  EXPECT_EQ(swept["results"][0]["breaks"], 3);
  EXPECT_EQ(swept["reasons"][0]["reason"], "Dynamic shape operator");
  EXPECT_EQ(swept["sweep"]["statuses"], (nlohmann::json{{"full_graph", 1}, {"graph_breaks", 1}}));
}

TEST_F(SweepTest, PrintsALineForEachModelUnlessItIsQuiet) {
  const Ran ran = Run("sweep");
  EXPECT_THAT(ran.err, HasSubstr("[2/2] full_graph  org/b"));
  EXPECT_EQ(Run("sweep --quiet").err, "");
}

TEST_F(SweepTest, CapturesNothingTwiceUnlessItIsTold) {
  ASSERT_THAT(Run("sweep"), Succeeds());
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_EQ(Captures(), 2u);
  ASSERT_THAT(Run("sweep --rebuild always"), Succeeds());
  EXPECT_EQ(Captures(), 4u);
}

TEST_F(SweepTest, CapturesNothingAtAllIfItIsTold) {
  EXPECT_THAT(Run("sweep --rebuild never"), EndsWith(kExitIncomplete));
  EXPECT_EQ(Captures(), 0u);
}

TEST_F(SweepTest, CapturesEachModelInEachMode) {
  EXPECT_THAT(Run("sweep --modes eval,train"), Prints("4 results in 2 modes"));
  EXPECT_EQ(Captures(), 4u);
}

TEST_F(SweepTest, FailsIfAModelThatWasNamedDoesNotExist) {
  HubFinds({FakeModel("org/a", 0, Config(1)), Excluded("org/modle", 0, Status::kSkippedNotFound, "not on the Hub")});
  const Ran ran = Run("sweep --model org/a --model org/modle --modes eval,train");
  EXPECT_THAT(ran, Fails(kExitFailure, "breakwatch: org/modle not found: not on the Hub"));
  EXPECT_EQ(ran.err.find("not found: "), ran.err.rfind("not found: ")) << "once for all modes";
  EXPECT_EQ(Statuses().at("org/a"), "full_graph");
  EXPECT_EQ(lister_.Requests().back().ids, (std::vector<std::string>{"org/a", "org/modle"}));
}

TEST_F(SweepTest, RefusesNamesThatAreNone) {
  EXPECT_THAT(RunWords({"sweep", "--model", ""}), Fails(kExitUsage, "not a valid model name"));
  EXPECT_THAT(Run("sweep --modes fast"), Fails(kExitConfig, "capture.modes"));
}

TEST_F(SweepTest, PublishesNamedModelsOnlyIfTheyAreTracked) {
  ASSERT_THAT(Run("sweep"), Succeeds());
  HubFinds({FakeModel("org/mine", 0, Config(7))});
  ASSERT_THAT(Run("sweep --model org/mine"), Succeeds());
  EXPECT_EQ(metrics_->Snapshots().back().models.size(), 2u);
  ASSERT_THAT(Run("sweep --model org/mine --track"), Succeeds());
  EXPECT_EQ(metrics_->Snapshots().back().models.size(), 3u);
}

TEST_F(SweepTest, NamesAHubThatIsUnavailable) {
  HubFails({ErrorCode::kUnavailable, "http://hub.test: connection refused", true, {}});
  EXPECT_THAT(Run("sweep"), Fails(kExitUnavailable, "breakwatch: http://hub.test: connection refused"));
}

TEST_F(SweepTest, IsIncompleteIfNoWorkerStarts) {
  Workers().FailToStart({ErrorCode::kUnavailable, "no capture worker starts: exit code 3"});
  EXPECT_THAT(Run("sweep"), EndsWith(kExitIncomplete));
  EXPECT_EQ(Statuses(), (Statuses_{{"org/a", "not_attempted"}, {"org/b", "not_attempted"}}));
}

TEST_F(SweepTest, IsIncompleteIfAWorkerIsLost) {
  Workers().Script("org/a", FailedCapture(Status::kWorkerLost, "two workers were lost"));
  EXPECT_THAT(Run("sweep"), EndsWith(kExitIncomplete));
  EXPECT_EQ(Statuses().at("org/b"), "full_graph");
}

TEST_F(SweepTest, SucceedsIfAModelFails) {
  Workers().Script("org/a", FailedCapture(Status::kFailedEager, "RuntimeError: sizes do not match"));
  EXPECT_THAT(Run("sweep"), Prints("RuntimeError: sizes do not match"));
}

TEST_F(SweepTest, DoesNotBeginWithoutAWorkerProgram) {
  no_workers_ = Error{ErrorCode::kInternal, "no worker program at .venv/bin/python; run `make venv`"};
  EXPECT_THAT(Run("sweep"), Fails(kExitFailure, "run `make venv`"));
  EXPECT_TRUE(Store()->Sweeps(1)->empty());
}

TEST_F(SweepTest, IsIncompleteAndKeepsTheTrackedModelsIfTheListingIsEmpty) {
  ASSERT_THAT(Run("sweep"), Succeeds());
  HubLists({});
  EXPECT_THAT(Run("sweep --quiet"), Fails(kExitIncomplete, "hub.filters"));
  EXPECT_EQ(metrics_->Snapshots().back().models.size(), 2u);
}

TEST_F(SweepTest, PrintsTheWarningsOfAListingEvenIfItIsQuiet) {
  RankedList list = ListOf({FakeModel("org/a", 1, Config(1))});
  list.warnings = {"the Hub says: deprecated"};
  lister_.AnswerFromNow(list);
  EXPECT_THAT(Run("sweep --quiet").err, HasSubstr("the Hub says: deprecated"));
}

TEST_F(SweepTest, PutsAModelThatTimesOutAgainAndAgainInQuarantine) {
  Workers().Script("org/a", FailedCapture(Status::kTimeout, "too slow"));
  for (int sweep = 0; sweep < 3; ++sweep) ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_EQ(Workers().StartsOf("org/a"), 3);
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_EQ(Statuses().at("org/a"), "quarantined");
  EXPECT_EQ(Workers().StartsOf("org/a"), 3);
  clock_.Advance(std::chrono::hours(25));
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_EQ(Workers().StartsOf("org/a"), 4);
}

TEST_F(SweepTest, RefusesASecondWriterAndNamesTheFirst) {
  const auto lock = store::WriterLock::Take(StateDir());
  ASSERT_TRUE(lock.ok());
  const Ran ran = Run("sweep");
  EXPECT_THAT(ran, Fails(kExitStore, "in use by process"));
  EXPECT_THAT(ran, Fails(kExitStore, "--state-dir"));
}

TEST_F(SweepTest, NamesAStateDirectoryThatCannotBeMade) {
  folder_.Write("state", "a file in its place");
  EXPECT_THAT(Run("sweep"), Fails(kExitStore, StateDir()));
}

TEST_F(SweepTest, RefusesAStoreOfANewerVersion) {
  ASSERT_THAT(Run("sweep"), Succeeds());
  Sql("UPDATE meta SET value = '999' WHERE key = 'schema_version'");
  EXPECT_THAT(Run("sweep"), Fails(kExitStore, "newer"));
}

TEST_F(SweepTest, IsAFailureOfTheDiskIfItsReportCannotBeWritten) {
  ASSERT_THAT(Run("store info"), EndsWith(kExitFailure));
  folder_.Write("state/sweeps", "a file in its place");
  const Ran ran = Run("sweep");
  EXPECT_THAT(ran, Fails(kExitStore, "`breakwatch store finish`"));
  EXPECT_THAT(ran.out, Not(HasSubstr("report.md"))) << "it would name a report that is not there";
  fs::remove(StateDir() + "/sweeps");
  EXPECT_THAT(Run("store finish"), Prints("written: 1 report"));
  EXPECT_TRUE(fs::exists(StateDir() + "/latest/report.md"));
}

TEST_F(SweepTest, RefusesOwnCodeUnlessItIsAllowed) {
  EXPECT_THAT(Run("sweep --model python:mine:net"), Fails(kExitUsage, "--allow-factories"));
  EXPECT_THAT(Run("sweep --model script:"), EndsWith(kExitUsage));
  EXPECT_EQ(Captures(), 0u);
}

TEST_F(SweepTest, TakesEachModuleThatAScriptCalls) {
  folder_.Write("train.py", "");
  discovered_ = std::string(R"({"modules": [{"class": "Net", "hash": "6b387228ba6e"}, {"hash": "bf266adc7f50"}]})");
  const std::string script = "script:" + folder_ / "train.py";
  ASSERT_THAT(RunWords({"sweep", "--allow-factories", "--model", script + " -- 6"}), Succeeds());
  EXPECT_EQ(discoveries_.at(0).arguments, std::vector<std::string>{"6"});
  EXPECT_EQ(lister_.Requests().back().ids,
            (std::vector<std::string>{script + "::6b387228ba6e -- 6", script + "::bf266adc7f50 -- 6"}));
}

TEST_F(SweepTest, RefusesAScriptThatCallsNoModule) {
  folder_.Write("train.py", "");
  discovered_ = std::string(R"({"modules": [], "ended": "ImportError: no module named mine"})");
  EXPECT_THAT(Run("sweep --allow-factories --model script:" + (folder_ / "train.py")),
              Fails(kExitUsage, "ImportError: no module named mine"));
}

TEST_F(SweepTest, RefusesInputsThatCannotBeRead) {
  EXPECT_THAT(Run("sweep --capture.inputs_file absent.json"), Fails(kExitConfig, "absent.json"));
}

}  // namespace
}  // namespace breakwatch::commands
