// `breakwatch import` of the trace of a job, and `breakwatch discover`, which runs a script.
#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

class ImportTest : public CommandTest {
 protected:
  ImportTest() { trace_ = SampleTrace(); }
};

constexpr const char* kImportNet = "import /tmp/trace --model acme/net --commit 3f9a1c2";

TEST_F(ImportTest, StoresTheBreaksOfAJob) {
  const Ran ran = Run(kImportNet);
  EXPECT_THAT(ran, Prints("Data-dependent branching"));
  EXPECT_THAT(ran.err, HasSubstr("40 records in 2 files, 2.5 MB"));
  EXPECT_EQ(Captures(), 0u);
  EXPECT_TRUE(lister_.Requests().empty());
  EXPECT_THAT(Run("show acme/net"), Prints("2 breaks"));
}

TEST_F(ImportTest, PrintsTheSameAsJson) {
  const auto imported = RunJson(std::string(kImportNet) + " --family vision --quiet");
  EXPECT_EQ(imported["results"][0]["model"], "acme/net");
  EXPECT_EQ(imported["results"][0]["revision"], "3f9a1c2");
  EXPECT_EQ(imported["results"][0]["family"], "vision");
  EXPECT_EQ(imported["results"][0]["breaks"], 2);
}

TEST_F(ImportTest, NeedsNeitherAHubNorAWorker) {
  HubFails({ErrorCode::kUnavailable, "no Hub", true, {}});
  no_workers_ = Error{ErrorCode::kInternal, "no worker program"};
  EXPECT_THAT(Run(kImportNet), Succeeds());
}

TEST_F(ImportTest, IsNotPublishedUnlessItIsTrackedAndConfigured) {
  ASSERT_THAT(Run(kImportNet), Succeeds());
  EXPECT_TRUE(metrics_->Snapshots().empty() || metrics_->Snapshots().back().models.empty());
  ASSERT_THAT(Run(std::string(kImportNet) + " --track --metrics.extra import"), Succeeds());
  ASSERT_FALSE(metrics_->Snapshots().empty());
  EXPECT_EQ(metrics_->Snapshots().back().models.at(0).model, "acme/net");
}

TEST_F(ImportTest, LeavesTheLatestSweepTheLatest) {
  HubLists({FakeModel("org/a", 1, Config(1))});
  ASSERT_THAT(Run("sweep"), Succeeds());
  ASSERT_THAT(Run(kImportNet), Succeeds());
  EXPECT_EQ(Statuses().count("org/a"), 1u);
}

TEST_F(ImportTest, RefusesArgumentsThatCannotBe) {
  EXPECT_THAT(RunWords({"import", "/tmp/trace", "--model", "acme/net", "--commit", "a b"}),
              Fails(kExitUsage, "--commit"));
  EXPECT_THAT(Run(std::string(kImportNet) + " --family painting"), Fails(kExitUsage, "unknown family \"painting\""));
  EXPECT_THAT(RunWords({"import", "/tmp/trace", "--model", "", "--commit", "abc"}), EndsWith(kExitUsage));
}

TEST_F(ImportTest, NamesATraceThatCannotBeRead) {
  trace_ = Error{ErrorCode::kInvalid, "/tmp/trace: nothing was compiled in this trace"};
  EXPECT_THAT(Run(kImportNet), Fails(kExitFailure, "nothing was compiled in this trace"));
}

TEST_F(ImportTest, PrintsWhatIsDoubtfulInATrace) {
  trace_->warnings = {"3 lines could not be read"};
  EXPECT_THAT(Run(std::string(kImportNet) + " --quiet").err, HasSubstr("warn: 3 lines could not be read"));
}

TEST_F(ImportTest, IsIncompleteIfATargetRefuses) {
  events_->AnswerAlways({Delivery::kRefused, "400 no", {}, true});
  EXPECT_THAT(Run(kImportNet), Fails(kExitIncomplete, "loki did not accept everything"));
}

class DiscoverTest : public CommandTest {
 protected:
  DiscoverTest() {
    folder_.Write("train.py", "");
    discovered_ = std::string(R"({"left_out": 2, "modules": [
      {"class": "Net", "file": "/src/train.py", "line": 32, "parameters": 126, "hash": "6b387228ba6e", "calls": 4,
       "instances": 1, "depth": 0}]})");
  }
  std::string Script() const { return folder_ / "train.py"; }
};

TEST_F(DiscoverTest, ListsTheModulesThatAScriptCallsAndHowToCaptureThem) {
  const Ran ran = Run("discover " + Script() + " --max-depth 1 -- 6 --epochs 1");
  EXPECT_THAT(ran, Prints("/src/train.py:32"));
  EXPECT_THAT(ran, Prints("and 2 more calls"));
  EXPECT_THAT(ran, Prints("'script:" + Script() + "::6b387228ba6e -- 6 --epochs 1'"));
  EXPECT_EQ(discoveries_.at(0).arguments, (std::vector<std::string>{"6", "--epochs", "1"}));
  EXPECT_EQ(discoveries_.at(0).max_depth, 1);
}

TEST_F(DiscoverTest, PrintsTheSameAsJson) {
  const auto found = RunJson("discover " + Script());
  EXPECT_EQ(found["modules"][0]["class"], "Net");
  EXPECT_EQ(found["modules"][0]["selector"], "script:" + Script() + "::6b387228ba6e");
}

TEST_F(DiscoverTest, NamesAScriptThatThereIsNot) {
  EXPECT_THAT(Run("discover absent.py"), Fails(kExitUsage, "absent.py"));
  EXPECT_TRUE(discoveries_.empty());
}

TEST_F(DiscoverTest, FailsIfTheScriptEndedEarly) {
  discovered_ = std::string(R"({"modules": [], "ended": "exit code 3", "output_tail": "no data\n"})");
  const Ran ran = Run("discover " + Script());
  EXPECT_THAT(ran, Fails(kExitFailure, "the script ended early: exit code 3"));
  EXPECT_THAT(ran.err, HasSubstr("no data"));
  EXPECT_THAT(ran.out, HasSubstr("no torch.nn.Module"));
}

TEST_F(DiscoverTest, FailsIfTheWorkerAnswersWithSomethingElse) {
  for (const char* line : {"", "[]", "{}", R"({"modules": 3})"}) {
    discovered_ = std::string(line);
    EXPECT_THAT(Run("discover " + Script()), Fails(kExitFailure, "invalid list of modules")) << line;
  }
  discovered_ = Error{ErrorCode::kInternal, "own code needs a sandbox"};
  EXPECT_THAT(Run("discover " + Script()), Fails(kExitFailure, "own code needs a sandbox"));
}

}  // namespace
}  // namespace breakwatch::commands
