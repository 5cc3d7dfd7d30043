// The commands that only read: show, reasons and report.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

class UnsweptTest : public CommandTest {};

TEST_F(UnsweptTest, NamesTheStoreThatThereIsNot) {
  for (const char* command : {"show org/a", "reasons", "report", "report --list", "compare previous latest"}) {
    EXPECT_THAT(Run(command), Fails(kExitFailure, StateDir())) << command;
  }
}

class ShowTest : public SweptTest {};

TEST_F(ShowTest, PrintsWhereAModelBreaksAndWhy) {
  const Ran ran = Run("show org/broken");
  EXPECT_THAT(ran, Prints("Dynamic shape operator [GB0036], 3 breaks"));
  EXPECT_THAT(ran, Prints("fake/modeling_fake.py:7"));
}

TEST_F(ShowTest, PrintsTheSameAsJson) {
  const auto shown = RunJson("show org/broken");
  EXPECT_EQ(shown["model"], "org/broken");
  EXPECT_EQ(shown["status"], "graph_breaks");
  EXPECT_EQ(shown["breaks"], 4);
  EXPECT_EQ(shown["toolchain"], "default");
}

TEST_F(ShowTest, PrintsInTheFormatThatWasAskedFor) {
  EXPECT_THAT(Run("show org/broken --format md"), Prints("# org/broken"));
  const Ran rows = Run("show org/broken --format csv");
  EXPECT_THAT(rows, Prints("Data-dependent branching"));
  EXPECT_EQ(std::count(rows.out.begin(), rows.out.end(), '\n'), 3) << "a header and a row for each site";
  EXPECT_THAT(Run("show org/broken --format pdf"), Fails(kExitUsage, "--format"));
}

TEST_F(ShowTest, TakesAPartOfAnIdThatMatchesOneModel) {
  EXPECT_THAT(Run("show clean"), Prints("org/clean"));
  EXPECT_THAT(Run("show org/"), Fails(kExitUsage, "\"org/\" is part of 3 models: org/broken, org/clean, org/slow"));
}

TEST_F(ShowTest, NamesTheModelThatWasProbablyMeant) {
  EXPECT_THAT(Run("show org/borken"), Fails(kExitUsage, "did you mean \"org/broken\"?"));
}

TEST_F(ShowTest, ListsTheStoredResultsIfThereIsNoneOfThisKind) {
  const Ran ran = Run("show org/clean --mode train");
  EXPECT_THAT(ran, Fails(kExitFailure, "no result of org/clean in mode train"));
  EXPECT_THAT(ran.err, HasSubstr("eval by default"));
  EXPECT_THAT(Run("show org/clean --toolchain old"), Fails(kExitFailure, "by toolchain old"));
}

TEST_F(ShowTest, PrintsTheResultOfAnEarlierSweep) {
  const std::string first = RunJson("report")["sweep"]["sweep_id"];
  HubLists({FakeModel("org/clean", 1, Config(9), 'b')});
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_EQ(RunJson("show org/clean")["revision"], std::string(40, 'b'));
  EXPECT_EQ(RunJson("show org/clean --sweep " + first)["revision"], std::string(40, 'a'));
  EXPECT_THAT(Run("show org/broken --sweep latest"), Fails(kExitFailure, "no result of org/broken in sweep latest"));
  EXPECT_THAT(Run("show org/clean --sweep none"), Fails(kExitFailure, "none"));
}

class ReasonsTest : public SweptTest {};

TEST_F(ReasonsTest, AreListedByBreakEvents) {
  const Ran ran = Run("reasons");
  ASSERT_THAT(ran, Succeeds());
  EXPECT_LT(ran.out.find("Dynamic shape operator"), ran.out.find("Data-dependent branching"));
  const auto reasons = RunJson("reasons");
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0]["reason"], "Dynamic shape operator");
  EXPECT_EQ(reasons[0]["events"], 3);
  EXPECT_EQ(reasons[0]["leverage"], 0) << "the model has another reason too";
}

TEST_F(ReasonsTest, AreLimitedToTheFirst) {
  EXPECT_EQ(RunJson("reasons --limit 1").size(), 1u);
  EXPECT_EQ(RunJson("reasons --limit 0").size(), 2u);
}

TEST_F(ReasonsTest, AreOfOneMode) {
  EXPECT_EQ(RunJson("reasons --mode train").size(), 0u);
  EXPECT_THAT(Run("reasons --mode fast"), Fails(kExitUsage, "unknown mode \"fast\""));
}

TEST_F(ReasonsTest, RefuseAnOrderThatThereIsNot) {
  EXPECT_THAT(Run("reasons --by colour"), Fails(kExitUsage, "leverage"));
}

TEST_F(ReasonsTest, NameASweepThatThereIsNot) {
  EXPECT_THAT(Run("reasons --sweep 20200101T000000Z-000000"), Fails(kExitFailure, "20200101T000000Z-000000"));
}

class ReportTest : public SweptTest {};

TEST_F(ReportTest, PrintsTheSweepInEachFormat) {
  EXPECT_THAT(Run("report"), Prints("1 full_graph, 1 graph_breaks, 1 timeout; 2 of 3 have numbers"));
  EXPECT_THAT(Run("report --format md"), Prints("# Where torch.compile breaks"));
  EXPECT_THAT(Run("report --format csv"), Prints("org/broken,"));
  EXPECT_THAT(Run("report --format pdf"), Fails(kExitUsage, "--format"));
  const auto report = RunJson("report");
  EXPECT_EQ(report["results"].size(), 3u);
  EXPECT_EQ(report["failures"][0]["status_detail"], "capture took longer than 300 s");
}

TEST_F(ReportTest, WritesToAFile) {
  EXPECT_EQ(Run("report --output " + (folder_ / "report.txt")).out, "");
  EXPECT_EQ(folder_.Read("report.txt"), Run("report").out);
  EXPECT_EQ(Run("report --output -").out, Run("report").out);
  EXPECT_THAT(Run("report --output /dev/full"), Fails(kExitStore, "cannot write /dev/full: No space left on device"));
}

TEST_F(ReportTest, ListsTheStoredSweeps) {
  ASSERT_THAT(Run("sweep"), Succeeds());
  const auto sweeps = RunJson("report --list");
  ASSERT_EQ(sweeps.size(), 2u);
  EXPECT_EQ(sweeps[0]["planned"], 3);
  EXPECT_THAT(Run("report --list"), Prints(sweeps[1]["sweep_id"].get<std::string>()));
  EXPECT_EQ(RunJson("report --sweep " + sweeps[1]["sweep_id"].get<std::string>())["sweep"]["sweep_id"],
            sweeps[1]["sweep_id"]);
}

TEST_F(ReportTest, NamesWhatAnotherSweepFoundInTheFirstCall) {
  Workers().Script("org/clean", GoodCapture({FakeSite("Data-dependent branching", "GB0170")}));
  ASSERT_THAT(Run("sweep --modes cold"), Succeeds());
  ASSERT_THAT(Run("sweep"), Succeeds());
  const auto differences = RunJson("report")["differences"];
  ASSERT_EQ(differences.size(), 1u) << differences;
  EXPECT_EQ(differences[0]["model"], "org/clean");
}

// Two sweeps: one model got worse, one better, and one did not change.
class CompareTest : public CommandTest {
 protected:
  void SetUp() override {
    const auto one = FakeSite("one", "GB0001"), two = FakeSite("two", "");
    for (const auto& [model, before, after] : {std::tuple{"org/worse", GoodCapture({one}), GoodCapture({one, two})},
                                               std::tuple{"org/better", GoodCapture({two}), GoodCapture()},
                                               std::tuple{"org/same", GoodCapture({one}), GoodCapture({one})}}) {
      Workers().Script(model, before);
      Workers().Script(model, after);
    }
    Sweep('a');
    Sweep('b');
  }
  void Sweep(char commit) {
    HubLists({FakeModel("org/worse", 1, Config(commit), commit),
              FakeModel("org/better", 2, Config(commit + 100), commit),
              FakeModel("org/same", 3, Config(commit + 200), commit)});
    ASSERT_THAT(Run("sweep"), Succeeds());
  }
  std::map<std::string, std::string> Verdicts(const std::string& command_line) {
    std::map<std::string, std::string> verdicts;
    const auto compared = RunJson(command_line);
    for (const auto& model : compared["models"]) verdicts[model["model"]] = model["verdict"];
    return verdicts;
  }
};

using Verdicts_ = std::map<std::string, std::string>;

TEST_F(CompareTest, ListsWhatChangedBetweenTwoSweeps) {
  const Ran ran = Run("compare previous latest");
  EXPECT_THAT(ran, Prints("1 worse, 1 better, 1 the same"));
  EXPECT_THAT(ran.out, Not(HasSubstr("org/same")));
  EXPECT_THAT(Run("compare previous latest --all"), Prints("org/same"));
  EXPECT_EQ(Verdicts("compare previous latest"),
            (Verdicts_{{"org/worse", "worse"}, {"org/better", "better"}, {"org/same", "same"}}));
}

TEST_F(CompareTest, EndsTheGateOnlyIfAModelGotWorse) {
  EXPECT_THAT(Run("compare previous latest --fail-on worse"), EndsWith(kExitRegressions));
  EXPECT_THAT(Run("compare latest latest --fail-on worse"), Succeeds());
  EXPECT_THAT(Run("compare previous latest"), Succeeds());
}

TEST_F(CompareTest, CountsAModelThatFailsNowAsWorse) {
  Workers().Script("org/same", FailedCapture(Status::kFailedCapture, "InternalTorchDynamoError"));
  Sweep('c');  // ends as before: the last answer of a script is repeated until another follows
  Sweep('d');
  EXPECT_EQ(Verdicts("compare previous latest").at("org/same"), "worse");
  EXPECT_THAT(Run("compare previous latest --fail-on worse"), EndsWith(kExitRegressions));
}

TEST_F(CompareTest, HasNoBaselineWithoutAComparableSweepBefore) {
  RankedList other = ListOf({FakeModel("org/same", 1, Config(7))});
  other.source = "file models.txt";
  lister_.AnswerFromNow(other);
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_EQ(RunJson("compare previous latest --fail-on worse")["gate"]["verdict"], "no_baseline");
}

TEST_F(CompareTest, TakesTheSweepBeforeOneOfASingleModelAsPrevious) {
  HubFinds({FakeModel("org/same", 0, Config(7), 'b')});
  ASSERT_THAT(Run("sweep --model org/same"), Succeeds());
  Sweep('b');
  EXPECT_EQ(RunJson("compare previous latest")["verdicts"], (nlohmann::json{{"same", 3}}))
      << "with the sweep before, of all models";
}

TEST_F(CompareTest, SelectsByCommitAndByToolchain) {
  EXPECT_EQ(Verdicts("compare org/worse@aaaaaaa worse@bbbb"), (Verdicts_{{"org/worse", "worse"}}));
  EXPECT_EQ(Verdicts("compare previous toolchain:default").size(), 3u);
  EXPECT_THAT(Run("compare org/worse@aaa latest"), Fails(kExitUsage, "four digits"));
  EXPECT_THAT(Run("compare org/none@aaaa latest"), EndsWith(kExitUsage));
}

TEST_F(CompareTest, NamesWhatSelectsNothing) {
  EXPECT_THAT(Run("compare toolchain:none latest"), Fails(kExitFailure, "\"toolchain:none\" matches no result"));
  EXPECT_THAT(Run("compare latest latest --mode train"), Fails(kExitFailure, "in mode train"));
  EXPECT_THAT(Run("compare none latest"), Fails(kExitFailure, "none"));
}

TEST_F(CompareTest, PrintsInTheFormatThatWasAskedFor) {
  const Ran rows = Run("compare previous latest --format csv");
  EXPECT_THAT(rows, Prints("model,mode,verdict,"));
  EXPECT_EQ(std::count(rows.out.begin(), rows.out.end(), '\n'), 4);
  EXPECT_THAT(Run("compare previous latest --format pdf"), Fails(kExitUsage, "--format"));
  EXPECT_THAT(Run("compare previous latest --fail-on worse --output /dev/full"), Fails(kExitStore, "/dev/full"));
}

}  // namespace
}  // namespace breakwatch::commands
