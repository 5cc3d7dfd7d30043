// `breakwatch trends` and `breakwatch store export`.
#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

// Two days: org/broken breaks on the first, and is a full graph at a new commit on the second.
class TrendsTest : public SweptTest {
 protected:
  void SetUp() override {
    SweptTest::SetUp();
    first_ = FormatDay(DayOf(clock_.Now()));
    clock_.Advance(std::chrono::hours{48});
    second_ = FormatDay(DayOf(clock_.Now()));
    Workers().Rescript("org/broken", GoodCapture());
    HubLists({FakeModel("org/broken", 1, Config(7), 'b'), FakeModel("org/clean", 2, Config(2)),
              FakeModel("org/slow", 3, Config(3))});
    ASSERT_THAT(Run("sweep --quiet"), Succeeds());
  }
  std::string first_, second_;
};

TEST_F(TrendsTest, ComparesTheFirstDayWithTheLast) {
  const Ran ran = Run("trends");
  EXPECT_THAT(ran, Prints(first_ + " to " + second_ + ", 2 days with a sweep"));
  EXPECT_THAT(ran, Prints("50.0  100.0"));
  EXPECT_THAT(ran.out, Not(HasSubstr("▁"))) << "the output is no terminal";
}

TEST_F(TrendsTest, PrintsARowPerDayAsJsonAndCsv) {
  const auto days = RunJson("trends");
  ASSERT_EQ(days.size(), 2u);
  EXPECT_EQ(days[0]["day"], first_);
  EXPECT_EQ(days[0]["models_with_numbers"], 2);
  EXPECT_EQ(days[0]["full_graph"], 1);
  EXPECT_EQ(days[1]["full_graph"], 2);
  EXPECT_EQ(days[1]["fixed"], 1);
  EXPECT_THAT(Run("trends --format csv"), Prints("day,toolchain,mode,sweep_id,models_tracked,"));
  EXPECT_THAT(Run("trends --daily"), Prints(second_ + "        3"));
}

TEST_F(TrendsTest, SelectsDaysFamiliesAndReasons) {
  EXPECT_EQ(RunJson("trends --since " + second_).size(), 1u);
  EXPECT_EQ(RunJson("trends --until " + first_).size(), 1u);
  EXPECT_EQ(RunJson("trends --family nlp")[0]["family"], "nlp");
  EXPECT_EQ(RunJson("trends --family audio").size(), 0u);
  EXPECT_EQ(RunJson("trends --by reason").size(), 2u);
  EXPECT_EQ(RunJson("trends --reason GB0170")[0]["reason"], "Data-dependent branching");
  EXPECT_EQ(RunJson("trends --by reason --reason GB9999").size(), 0u);
  EXPECT_EQ(RunJson("trends --toolchain default").size(), 2u);
  EXPECT_EQ(RunJson("trends --toolchain none").size(), 0u);
}

TEST_F(TrendsTest, RefusesWhatSelectsNothingByMistake) {
  EXPECT_THAT(Run("trends --since yesterday"), Fails(kExitUsage, "--since: \"yesterday\" is no day"));
  EXPECT_THAT(Run("trends --until 2026-02-30"), Fails(kExitUsage, "--until"));
  EXPECT_THAT(Run("trends --since 2026-03-02 --until 2026-03-01"), Fails(kExitUsage, "is after"));
  EXPECT_THAT(Run("trends --family audoi"), Fails(kExitUsage, "did you mean \"audio\"?"));
  EXPECT_THAT(Run("trends --by reason --family nlp"), Fails(kExitUsage, "give one of them"));
  EXPECT_THAT(Run("trends --family nlp --reason GB0170"), Fails(kExitUsage, "give one of them"));
  EXPECT_THAT(Run("trends --by model"), Fails(kExitUsage, "--by"));
  EXPECT_THAT(Run("trends --format pdf"), Fails(kExitUsage, "--format"));
}

TEST_F(TrendsTest, StatesWhichTrendsAreMissing) {
  EXPECT_THAT(Run("trends --since " + second_ + " --until " + second_ + " --toolchain none"),
              Prints("no trends since " + second_ + " until " + second_ + " by toolchain none"));
}

TEST_F(TrendsTest, LeavesOutDaysOfAClockThatWasAhead) {
  Sql("UPDATE trends SET day = '2099-01-01' WHERE day = '" + first_ + "'");
  EXPECT_EQ(RunJson("trends").size(), 1u);
  EXPECT_THAT(Run("trends"), Prints(second_ + " to " + second_));
  EXPECT_EQ(RunJson("trends --until 2099-12-31").size(), 2u);
}

TEST_F(TrendsTest, RebuildComputesTheSameTrends) {
  const auto before = RunJson("trends --by reason");
  Sql("DELETE FROM trends");
  EXPECT_THAT(Run("trends"), Prints("no trends"));
  EXPECT_THAT(Run("store rebuild"), Succeeds());
  EXPECT_EQ(RunJson("trends --by reason"), before);
  EXPECT_THAT(Run("store check"), Succeeds());
}

TEST_F(TrendsTest, RepairKeepsTrendsThatTheHistoryDoesNotHave) {
  Sql("UPDATE trends SET day = '2020-01-01' WHERE day = '" + first_ + "'");
  Sql("UPDATE results SET document = '{' WHERE model = 'org/clean'");
  EXPECT_THAT(Run("store repair"), Succeeds());
  EXPECT_EQ(RunJson("trends")[0]["day"], "2020-01-01");
}

TEST_F(TrendsTest, ExportsOpenMetricsWithTheLabelsOfTheSettings) {
  settings_.insert(settings_.end(), {"--exporters.pushgateway.job", "ci", "--exporters.pushgateway.pool", "eu"});
  const Ran ran = Run("store export --format openmetrics");
  EXPECT_THAT(ran, Prints("breakwatch:full_graph:ratio{job=\"ci\",pool=\"eu\"} 0.5 "));
  EXPECT_THAT(ran, Prints("family:full_graph:ratio{job=\"ci\",pool=\"eu\",family=\"nlp\"} 1 "));
  EXPECT_TRUE(ran.out.ends_with("# EOF\n"));
  EXPECT_EQ(Run("store export --format openmetrics --output " + (folder_ / "trends.om")).out, "");
  EXPECT_EQ(folder_.Read("trends.om"), ran.out);
  EXPECT_THAT(Run("store export --format openmetrics --since " + second_).out, Not(HasSubstr("} 0.5 ")));
  EXPECT_THAT(Run("store export"), Fails(kExitUsage, "--format"));
  EXPECT_THAT(Run("store export --format openmetrics --output /dev/full"), Fails(kExitStore, "/dev/full"));
}

TEST_F(CommandTest, TrendsNameTheStoreThatThereIsNot) {
  for (const char* command : {"trends", "store export --format openmetrics"})
    EXPECT_THAT(Run(command), Fails(kExitFailure, StateDir())) << command;
}

}  // namespace
}  // namespace breakwatch::commands
