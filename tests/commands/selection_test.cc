// --filter, --owner, --model with filters, and models.file, over the commands that take them.
#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

// A file of owners and overrides, which all command lines use.
class SelectionTest : public SweptTest {
 protected:
  SelectionTest() {
    folder_.Write("models.yaml",
                  "owners:\n"
                  "  compilers: {contact: \"#compilers\", models: org/broken}\n"
                  "  vision: {models: [org/slow, org/broken]}\n");
    settings_ = {"--models.file", folder_ / "models.yaml"};
  }
  std::vector<std::string> Shown(const std::vector<std::string>& words) {
    std::vector<std::string> all = {"--json", "show", "--filter"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<std::string> models;
    for (const auto& row : RunWords(all).Json()) models.push_back(row.value("model", ""));
    return models;
  }
};

TEST_F(SelectionTest, ShowListsTheSelectedModels) {
  using ::testing::ElementsAre;
  EXPECT_THAT(Shown({"status:numbers"}), ElementsAre("org/broken", "org/clean"));
  EXPECT_THAT(Shown({"reason:GB0170 or status:timeout"}), ElementsAre("org/broken", "org/slow"));
  EXPECT_THAT(Shown({"not (reason:'Dynamic shape*' or org/s*)"}), ElementsAre("org/clean"));
  EXPECT_THAT(Shown({"owner:vision", "--owner", "compilers"}), ElementsAre("org/broken"));
  EXPECT_THAT(Shown({"org/*", "--sweep", "latest", "--mode", "eval"}),
              ElementsAre("org/broken", "org/clean", "org/slow"));
  EXPECT_THAT(Run("show"), Fails(kExitUsage, "name one model, or list several with --filter"));
  EXPECT_THAT(Run("show org/slow --filter *"), Fails(kExitUsage, "name one model, or list several"));
}

TEST_F(SelectionTest, AMistypedSelectionIsAUsageErrorThatNamesTheNearest) {
  for (const std::string command : {"show", "reasons", "report", "compare latest latest"}) {
    EXPECT_THAT(Run(command + " --filter famly:nlp"),
                Fails(kExitUsage, "--filter: unknown key \"famly\"; did you mean"));
    EXPECT_THAT(Run(command + " --filter org/borken"), Fails(kExitUsage, "did you mean \"org/broken\"?")) << command;
    EXPECT_THAT(Run(command + " --owner visoin"),
                Fails(kExitUsage, "unknown owner \"visoin\"; did you mean \"vision\"?"));
    EXPECT_THAT(Run(command + " --filter @/none"), Fails(kExitUsage, "/none: cannot be read")) << command;
  }
  EXPECT_THAT(Run("report --list --owner vision"), Fails(kExitUsage, "--list lists sweeps"));
}

TEST_F(SelectionTest, ReasonsCountTheSelectedModels) {
  EXPECT_EQ(RunJson("reasons --owner compilers").size(), 2u);
  EXPECT_EQ(RunJson("reasons --filter org/clean").size(), 0u);
}

TEST_F(SelectionTest, AReportHasTheSelectedModelsWithTheirOwners) {
  const auto report = RunJson("report --owner vision");
  ASSERT_EQ(report["results"].size(), 2u);
  EXPECT_EQ(report["results"][0]["owners"], (nlohmann::json{"compilers", "vision"}));
  EXPECT_THAT(Run("report --format csv"), Prints("compilers, vision"));
  const Ran text = Run("report");
  EXPECT_THAT(text, Prints("OWNER"));
  settings_.clear();
  EXPECT_THAT(Run("report").out, Not(HasSubstr("OWNER")));
}

TEST_F(SelectionTest, ACompareKeepsAModelThatIsSelectedOnOneSide) {
  Workers().Script("org/slow", GoodCapture({}));
  ASSERT_THAT(Run("sweep --quiet --rebuild always"), Succeeds());  // it times out again
  ASSERT_THAT(Run("sweep --quiet --rebuild always"), Succeeds());
  const auto compared = RunJson("compare previous latest --all --filter status:timeout");
  ASSERT_EQ(compared["models"].size(), 1u);
  EXPECT_EQ(compared["models"][0]["model"], "org/slow");
  EXPECT_EQ(compared["models"][0]["verdict"], "better");
}

TEST_F(SelectionTest, AFilterDoesNotHideAModelThatIsGone) {
  const std::string baseline = folder_ / "baseline.tsv";
  ASSERT_THAT(Run("baseline update " + baseline), Succeeds());
  HubLists({FakeModel("org/clean", 1, Config(2))});
  ASSERT_THAT(Run("sweep --quiet"), Succeeds());
  EXPECT_THAT(Run("compare --baseline " + baseline + " --filter type:fake*"), EndsWith(kExitRegressions));
  EXPECT_THAT(Run("compare --baseline " + baseline + " --filter org/clean"), Succeeds());
}

TEST_F(SelectionTest, ASweepTakesAPartOfTheRanking) {
  const std::size_t before = Captures();
  const auto swept = RunJson("sweep --quiet --rebuild always --model org/c* --model status:timeout");
  EXPECT_EQ(swept["results"].size(), 2u);
  EXPECT_FALSE(swept["sweep"]["ranked"]);
  EXPECT_EQ(Captures(), before + 2);
  EXPECT_TRUE(lister_.Requests().back().ids.empty());
  EXPECT_EQ(RunJson("plan --owner compilers")["models"].size(), 1u);
}

TEST_F(SelectionTest, AFileOfNamesStandsForThem) {
  folder_.Write("names.txt", "org/clean@main  # a comment\n\norg/slow\n");
  HubFinds({FakeModel("org/clean", 0, Config(2)), FakeModel("org/slow", 0, Config(3))});
  RunWords({"plan", "--model", "@" + (folder_ / "names.txt")});
  EXPECT_EQ(lister_.Requests().back().ids, (std::vector<std::string>{"org/clean@main", "org/slow"}));
  EXPECT_THAT(RunWords({"plan", "--model", "@" + (folder_ / "none.txt")}),
              Fails(kExitUsage, "none.txt: cannot be read"));
}

TEST_F(SelectionTest, AFileOfFiltersSelectsInTheRanking) {
  folder_.Write("mine.txt", "org/c*\nstatus:timeout\n");
  const Ran ran = RunWords({"--json", "plan", "--model", "@" + (folder_ / "mine.txt") + " and not org/slow"});
  ASSERT_EQ(ran.Json()["models"].size(), 1u) << ran.err;
  EXPECT_EQ(ran.Json()["models"][0]["model"], "org/clean");
}

TEST_F(SelectionTest, WrongSelectionsOfASweepAreUsageErrors) {
  EXPECT_THAT(Run("sweep --model org/clean --model family:nlp"), Fails(kExitUsage, "cannot be combined with a filter"));
  EXPECT_THAT(Run("sweep --model org/clean --owner vision"), Fails(kExitUsage, "cannot be combined with a filter"));
  EXPECT_THAT(Run("sweep --resume --owner vision"), Fails(kExitUsage, "cannot be combined"));
  EXPECT_THAT(Run("sweep --model org/x*"), Fails(kExitUsage, "matches no model"));
  EXPECT_THAT(Run("sweep --model famly:nlp"), Fails(kExitUsage, "--model: unknown key"));
  EXPECT_THAT(Run("sweep --owner nobody"), Fails(kExitUsage, "unknown owner"));
}

TEST_F(SelectionTest, OverridesChangeWhatASweepDoes) {
  folder_.Write("models.yaml",
                "overrides:\n"
                "  - {models: org/broken, skip: waits for a fix}\n"
                "  - {models: org/clean, modes: [train], limits: {capture: 9m}, dtype: bfloat16, attention: eager,\n"
                "     inputs: {sizes: {seq: 9}}}\n");
  const auto swept = RunJson("sweep --quiet");
  ASSERT_EQ(swept["results"].size(), 3u);
  EXPECT_EQ(swept["results"][0]["status"], "skipped_filtered");
  EXPECT_EQ(swept["results"][0]["status_detail"], "waits for a fix (" + (folder_ / "models.yaml") + ":2:32)");
  EXPECT_EQ(swept["results"][1]["mode"], "train");
  const CaptureJob& job = Workers().started[Workers().started.size() - 2];
  EXPECT_EQ(job.model + " " + job.dtype + " " + job.attention, "org/clean bfloat16 eager");
  EXPECT_EQ(job.limits.capture, std::chrono::minutes(9));
  EXPECT_EQ(job.inputs_spec_json, R"({"sizes":{"seq":9}})");
}

TEST_F(SelectionTest, AWrongModelsFileIsAConfigurationError) {
  folder_.Write("models.yaml", "overrides:\n  - {models: org/a, skipp: why}\n");
  EXPECT_THAT(Run("config check"),
              Fails(kExitConfig, "models.yaml:2:21: unknown key \"skipp\"; did you mean \"skip\"?"));
  EXPECT_THAT(Run("sweep"), Fails(kExitConfig, "models.yaml:2:21"));
}

}  // namespace
}  // namespace breakwatch::commands
