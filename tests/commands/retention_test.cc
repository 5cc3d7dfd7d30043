// What `retention.age` and `retention.bytes` remove, and what never depends on it.
#include <filesystem>

#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

namespace fs = std::filesystem;

// Four sweeps, a day apart; in each of them the first model has one more break site.
class RetentionTest : public CommandTest {
 protected:
  void SetUp() override {
    std::vector<BreakSite> sites;
    for (int day = 0; day < 4; ++day) {
      sites.push_back(FakeSite("reason " + std::to_string(day), ""));
      Workers().Script("org/worse", GoodCapture(sites));
      Workers().Script("org/same", GoodCapture());
      Sweep();
    }
  }
  // A day after the one before.
  void Sweep(const std::string& more = "") {
    clock_.Advance(std::chrono::hours{24});
    const char commit = static_cast<char>('a' + ids_.size());
    HubLists(
        {FakeModel("org/worse", 1, Config(commit), commit), FakeModel("org/same", 2, Config(commit + 100), commit)});
    ASSERT_THAT(Run("sweep --quiet" + more), Succeeds());
    ids_.push_back(Store()->Sweeps(1)->at(0).id);
  }
  std::set<std::string> Directories() const {
    std::set<std::string> ids;
    for (const auto& entry : fs::directory_iterator(StateDir() + "/sweeps"))
      ids.insert(entry.path().filename().string());
    return ids;
  }
  std::set<std::string> SweepsWithEvents() {
    std::set<std::string> ids;
    for (const StoredEvent& event : *Store()->EventsAfter(0, 10'000, 1 << 24)) ids.insert(event.sweep_id);
    ids.erase("");
    return ids;
  }
  // The newest of all sweeps so far.
  std::set<std::string> Newest(std::size_t count) const { return {ids_.end() - static_cast<int>(count), ids_.end()}; }

  std::vector<std::string> ids_;  // oldest first
};

TEST_F(RetentionTest, RemovesTheDirectoriesAndEventsOfSweepsThatEndedTooLongAgo) {
  EXPECT_EQ(Directories(), Newest(4));
  EXPECT_EQ(SweepsWithEvents(), Newest(4));
  Sweep(" --retention.age 60h");
  EXPECT_EQ(Directories(), Newest(3));
  EXPECT_EQ(SweepsWithEvents(), Newest(3));
  EXPECT_THAT(Run("store finish --retention.age 60h"), Prints("written: 0 reports"));
  EXPECT_THAT(Run("store finish"), Prints("written: 2 reports")) << "without the limit they are missing";
}

TEST_F(RetentionTest, RemovesTheOldestDirectoriesThatDoNotFitAndTheirEvents) {
  Sweep(" --retention.bytes 1GiB");
  EXPECT_EQ(Directories(), Newest(5));
  for (const std::string& id : Newest(5)) fs::resize_file(StateDir() + "/sweeps/" + id + "/plan.json", 1 << 20);
  Sweep(" --retention.bytes 2500KiB");
  EXPECT_EQ(Directories(), Newest(3));
  EXPECT_EQ(SweepsWithEvents(), Newest(3));
  EXPECT_THAT(Run("store finish --retention.bytes 2500KiB"), Prints("written: 0 reports"));
  fs::remove_all(StateDir() + "/sweeps/" + ids_[ids_.size() - 2]);
  EXPECT_THAT(Run("store finish --retention.bytes 2500KiB"), Prints("written: 1 report")) << "one between those kept";
}

TEST_F(RetentionTest, KeepsEventsThatAnExporterHasNotDelivered) {
  events_->AnswerAlways({Delivery::kTryAgain, "connection refused", {}, false});
  for (int sweep = 0; sweep < 2; ++sweep) {
    clock_.Advance(std::chrono::hours{24});
    EXPECT_THAT(Run("sweep --quiet --retention.age 1h --delivery.drain_timeout 1ms"), EndsWith(kExitIncomplete));
    ids_.push_back(Store()->Sweeps(1)->at(0).id);
  }
  EXPECT_EQ(Directories(), Newest(1));
  EXPECT_EQ(SweepsWithEvents(), Newest(2)) << "and none of those that were delivered";
}

TEST_F(RetentionTest, ChangesNoBaselineComparisonTrendOrState) {
  const std::string baseline = folder_ / "gate.tsv", pair = ids_[0] + " " + ids_[1];
  ASSERT_THAT(Run("baseline update " + baseline + " --sweep " + ids_[0]), Succeeds());
  const std::vector<std::string> questions = {"compare " + pair + " --format json --all",
                                              "compare " + pair,
                                              "baseline diff " + baseline + " --sweep " + ids_[1],
                                              "report --sweep " + ids_[1] + " --format json",
                                              "reasons --sweep " + ids_[1],
                                              "show org/worse --sweep " + ids_[0]};
  std::vector<std::string> before;
  for (const std::string& question : questions) before.push_back(Run(question).out);
  const auto trends = *Store()->ReadTrends({});
  Sweep(" --retention.age 1h --retention.bytes 1MiB --retention.sweeps 1");
  EXPECT_EQ(Directories(), Newest(1));
  EXPECT_EQ(SweepsWithEvents(), Newest(1));
  for (std::size_t i = 0; i < questions.size(); ++i) EXPECT_EQ(Run(questions[i]).out, before[i]) << questions[i];
  auto after = *Store()->ReadTrends({});
  ASSERT_EQ(after.size(), trends.size() + 1);
  after.pop_back();
  EXPECT_EQ(after, trends);
  EXPECT_THAT(Run("compare previous latest"), Prints("sweep " + ids_[3]));
  EXPECT_THAT(Run("compare --baseline " + baseline), EndsWith(kExitRegressions));
  const auto current = *Store()->LoadCurrent();
  ASSERT_THAT(Run("store rebuild"), Succeeds());
  EXPECT_EQ(Store()->LoadCurrent()->models, current.models);
  EXPECT_EQ(*Store()->ReadTrends({}), *Store()->ReadTrends({}));
  EXPECT_THAT(Run("store check"), Succeeds());
}

TEST_F(RetentionTest, RefusesLimitsThatAreNone) {
  EXPECT_THAT(Run("sweep --retention.age soon"), Fails(kExitConfig, "retention.age"));
  EXPECT_THAT(Run("sweep --retention.bytes all"), Fails(kExitConfig, "a size such as 512MiB or 6GiB, or null"));
}

}  // namespace
}  // namespace breakwatch::commands
