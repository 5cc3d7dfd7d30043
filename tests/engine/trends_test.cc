// The trends: what the state at the end of a day folds into, and that the history folds into the same again.
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <map>
#include <random>

#include "engine/aggregate_fixture.h"
#include "engine/loop_fixture.h"

namespace breakwatch::engine {
namespace {

using fakes::FailedCapture;
using fakes::FakeModel;
using fakes::FakeSite;
using fakes::GoodCapture;

const BreakSite kBranch = FakeSite("branching", "GB0170", 2), kPrint = FakeSite("print", "", 1);

class TrendFoldTest : public AggregateTest {
 protected:
  // The folds that the end of a sweep on this day adds.
  std::vector<TrendFold> FoldsOf(int day, const std::vector<Model>& models, const How& how) {
    Begin(models, how);
    for (const Model& model : models) (void)Apply(model);
    sweep_.state = SweepState::kFinished;
    sweep_.complete = how.complete;
    sweep_.finished_at = *ParseDay("2026-03-01") + std::chrono::days{day - 1} + std::chrono::seconds{++seconds_};
    return aggregate_.Finish(sweep_, plan_).trends.folds;
  }
  std::vector<TrendFold> FoldsOf(int day, const std::vector<Model>& models) { return FoldsOf(day, models, How{}); }
  // The row of the published fold; fails the test if there is none.
  TrendNumbers Row(const std::vector<TrendFold>& folds, TrendScope scope = TrendScope::kAll,
                   const std::string& name = "") {
    for (const TrendFold& fold : folds) {
      if (!fold.published) continue;
      for (const TrendRow& row : fold.rows) {
        if (row.scope == scope && row.name == name) return row.numbers;
      }
    }
    ADD_FAILURE() << "no row " << name;
    return {};
  }
};

TEST_F(TrendFoldTest, CountsModelsBreaksAndSites) {
  const auto folds = FoldsOf(1, {{"m", GoodCapture({kBranch, kPrint})},
                                 {"n", GoodCapture({kBranch})},
                                 {"clean"},
                                 {"slow", FailedCapture(Status::kTimeout, "slow")}});
  ASSERT_EQ(folds.size(), 1u);
  EXPECT_EQ(FormatDay(folds[0].day), "2026-03-01");
  EXPECT_EQ(folds[0].toolchain, TestToolchain().Key());
  EXPECT_EQ(folds[0].mode, "eval");
  EXPECT_EQ(folds[0].sweep_id, sweep_.id);
  EXPECT_EQ(folds[0].at, sweep_.finished_at);
  const TrendNumbers all = Row(folds);
  EXPECT_EQ(all.models_tracked, 4);
  EXPECT_EQ(all.models_with_numbers, 3);
  EXPECT_EQ(all.full_graph, 1);
  EXPECT_EQ(all.models, 2);
  EXPECT_EQ(all.breaks, 5);
  EXPECT_EQ(all.break_sites, 3);
  const TrendNumbers branching = Row(folds, TrendScope::kReason, "branching");
  EXPECT_EQ(branching.models, 2);
  EXPECT_EQ(branching.breaks, 4);
  EXPECT_EQ(branching.break_sites, 2);
  EXPECT_EQ(branching.leverage, 1);
  EXPECT_EQ(branching.models_with_numbers, 3) << "stands beside every total";
}

TEST_F(TrendFoldTest, SplitsTheSameNumbersByFamily) {
  const auto folds = FoldsOf(1, {{"m", GoodCapture({kBranch})}, {"clean"}});
  EXPECT_EQ(Row(folds, TrendScope::kFamily, "nlp"), Row(folds));
}

TEST_F(TrendFoldTest, IsThePublishedStateAndNotThatOfTheSweepAlone) {
  (void)FoldsOf(1, {{"m", GoodCapture({kBranch})}, {"n"}});
  const auto folds = FoldsOf(2, {{"n"}}, {.ranked = false});
  EXPECT_EQ(Row(folds).models_tracked, 2);
  EXPECT_EQ(Row(folds).breaks, 2);
}

TEST_F(TrendFoldTest, ComparesWithTheDayFoldedBefore) {
  const TrendNumbers first = Row(FoldsOf(1, {{"fixed", GoodCapture({kBranch})}, {"broken"}, {"gone"}, {"same"}}));
  EXPECT_EQ(first.came + first.departed + first.fixed + first.broken, 0) << "there is nothing to compare with";
  const TrendNumbers next = Row(FoldsOf(3, {{"fixed", GoodCapture(), kB},
                                            {"broken", GoodCapture({kBranch, kPrint}), kB},
                                            {"gone", FailedCapture(Status::kCrashed, "SIGABRT"), kB},
                                            {"same"},
                                            {"new", GoodCapture({kPrint})}}));
  EXPECT_EQ(next.fixed, 1);
  EXPECT_EQ(next.broken, 1);
  EXPECT_EQ(next.breaks_change, 3 - 2);
  EXPECT_EQ(next.came, 1);
  EXPECT_EQ(next.came_full_graph, 0);
  EXPECT_EQ(next.departed, 1);
  EXPECT_EQ(next.departed_full_graph, 1);
}

TEST_F(TrendFoldTest, ComparesEverySweepOfADayWithTheDayBefore) {
  (void)FoldsOf(1, {{"m", GoodCapture({kBranch})}});
  EXPECT_EQ(Row(FoldsOf(2, {{"m", GoodCapture(), kB}})).fixed, 1);
  EXPECT_EQ(Row(FoldsOf(2, {{"m", GoodCapture(), kB}})).fixed, 1) << "the last of a day replaces the others";
  EXPECT_EQ(Row(FoldsOf(3, {{"m", GoodCapture(), kB}})).fixed, 0);
}

TEST_F(TrendFoldTest, ContinuesAcrossARestart) {
  (void)FoldsOf(1, {{"m", GoodCapture({kBranch})}});
  aggregate_ = Aggregate(aggregate_.ToCurrent(), {});
  EXPECT_EQ(Row(FoldsOf(2, {{"m", GoodCapture(), kB}})).fixed, 1);
}

TEST_F(TrendFoldTest, ContinuesAcrossAChangeOfThePublishedToolchain) {
  (void)FoldsOf(1, {{"m", GoodCapture({kBranch})}, {"n"}});
  const auto folds = FoldsOf(2, {{"m"}, {"n"}}, {.toolchain = TestToolchain("2.16.0")});
  ASSERT_EQ(folds.size(), 1u);
  EXPECT_EQ(folds[0].toolchain, TestToolchain("2.16.0").Key());
  EXPECT_EQ(Row(folds).fixed, 1);
  EXPECT_EQ(Row(folds).came, 0);
}

TEST_F(TrendFoldTest, AlsoFoldsAFurtherToolchainWhichIsNotPublished) {
  (void)FoldsOf(1, {{"m", GoodCapture({kBranch})}, {"n"}});
  Toolchain next = TestToolchain("2.16.0");
  next.name = "next";
  const auto folds = FoldsOf(1, {{"m"}}, {.ranked = false, .toolchain = next, .primary = false});
  ASSERT_EQ(folds.size(), 2u);
  EXPECT_FALSE(folds[0].published);
  EXPECT_EQ(folds[0].toolchain, next.Key());
  EXPECT_EQ(folds[0].rows[0].numbers.models_tracked, 2);
  EXPECT_EQ(folds[0].rows[0].numbers.full_graph, 1);
  EXPECT_EQ(Row(folds).breaks, 2) << "the published numbers stay those of the primary toolchain";
}

TEST_F(TrendFoldTest, AFailedOrPartialSweepDoesNotTakeNumbersFromItsDay) {
  const TrendNumbers first = Row(FoldsOf(1, {{"m", GoodCapture({kBranch})}, {"n"}}));
  const CaptureResult timeout = FailedCapture(Status::kTimeout, "slow");
  EXPECT_EQ(Row(FoldsOf(2, {{"m", timeout}, {"n", timeout}})), first)
      << "the numbers of the same commit stay published";
  EXPECT_EQ(Row(FoldsOf(3, {{"m", GoodCapture({kBranch})}}, {.complete = false})), first) << "ended early";
}

TEST_F(TrendFoldTest, DoesNotMixModes) {
  const auto folds =
      FoldsOf(1, {{"m", GoodCapture({kBranch})}, {"trained", GoodCapture({kBranch, kPrint}), kA, "", "train"}});
  ASSERT_EQ(folds.size(), 1u);
  EXPECT_EQ(folds[0].mode, "eval");
  EXPECT_EQ(Row(folds).models_tracked, 2);
  EXPECT_EQ(Row(folds).models_with_numbers, 1);
  EXPECT_EQ(Row(folds).breaks, 2);
  const TrendNumbers next = Row(FoldsOf(2, {{"m", GoodCapture({kPrint}), kA, "", "train"}}, {.ranked = false}));
  EXPECT_EQ(next.breaks, 2) << "a sweep in another mode changes nothing";
}

TEST_F(TrendFoldTest, FoldsNothingThatDoesNotCount) {
  (void)FoldsOf(1, {{"m"}});
  EXPECT_TRUE(FoldsOf(2, {}).empty()) << "an empty listing";
  EXPECT_TRUE(FoldsOf(2, {{"m"}}, {.primary = false, .trigger = SweepTrigger::kBisect}).empty());
  EXPECT_TRUE(FoldsOf(2, {{.id = "m", .mode = kImport}}, {.trigger = SweepTrigger::kTraceImport}).empty());
  Begin({{"m"}, {"n"}}, {});
  (void)Apply({"m"});
  sweep_.state = SweepState::kFinished;
  EXPECT_TRUE(aggregate_.Finish(sweep_, plan_).trends.folds.empty()) << "given up";
  sweep_.state = SweepState::kInterrupted;
  EXPECT_TRUE(aggregate_.Finish(sweep_, plan_).trends.folds.empty()) << "it will be resumed";
}

TEST_F(TrendFoldTest, BoundsReasonsAndTheirText) {
  std::vector<BreakSite> sites{FakeSite("common", "GB0001")};
  for (int i = 0; i < 700; ++i) sites.push_back(FakeSite("reason " + std::to_string(i), ""));
  sites.push_back(FakeSite(std::string(300, 'x'), ""));
  const auto folds = FoldsOf(1, {{"a", GoodCapture(sites)}, {"b", GoodCapture({sites[0]})}});
  std::size_t reasons = 0, longest = 0;
  for (const TrendRow& row : folds[0].rows) {
    reasons += row.scope == TrendScope::kReason ? 1 : 0;
    longest = std::max(longest, row.name.size());
  }
  EXPECT_EQ(reasons, 500u);
  EXPECT_LE(longest, 120u);
  EXPECT_EQ(Row(folds, TrendScope::kReason, "common").models, 2) << "those of the most models are kept";
}

// Sweeps of a loop with a store, on several days.
class TrendLoopTest : public LoopFixture {
 protected:
  void Sweep(std::vector<RankedModel> models) {
    lister_.Answer(ListOf(std::move(models)));
    SweepRequest request;
    request.rebuild = Rebuild::kAlways;
    const auto swept = RunSweep(request);
    ASSERT_TRUE(swept.ok()) << swept.error().message;
  }
  std::vector<std::string> Days() {
    std::vector<std::string> days;
    const auto folds = store_->ReadTrends({});
    for (const TrendFold& fold : *folds) days.push_back(FormatDay(fold.day));
    return days;
  }
  // The newest fold counts what the newest snapshot publishes.
  void ExpectFoldOfTheSnapshot() {
    const Snapshot& snapshot = *published_.back().first;
    TrendNumbers all;
    for (const TrackedModel& model : snapshot.models) {
      const Numbers* numbers = snapshot.NumbersOf(model);
      ++all.models_tracked;
      if (numbers == nullptr) continue;
      ++all.models_with_numbers;
      ++(numbers->reasons.empty() ? all.full_graph : all.models);
      for (const ReasonCount& reason : numbers->reasons) all.breaks += reason.events, all.break_sites += reason.sites;
    }
    const auto folds = store_->ReadTrends({});
    ASSERT_FALSE(folds->empty());
    TrendNumbers state = folds->back().rows[0].numbers;
    for (const TrendField& field : kTrendFields) {
      if (field.adds_up) state.*field.value = 0;
    }
    EXPECT_EQ(state, all);
    EXPECT_EQ(folds->back().toolchain, snapshot.toolchain_key);
  }
  // 0: a full graph; 1: breaks; 2: fails.
  void Script(const std::string& model, unsigned how) {
    runner_.Rescript(model, how == 0   ? GoodCapture()
                            : how == 1 ? GoodCapture({kBranch, kPrint})
                                       : FailedCapture(Status::kFailedCapture, "InternalTorchDynamoError"));
  }
  // Executes statements on the database, past the store.
  void Sql(const std::vector<std::string>& statements) {
    store_.reset();
    {
      soci::session sql(soci::sqlite3, folder_.Url().substr(sizeof "sqlite:" - 1));
      for (const std::string& statement : statements) sql << statement;
    }
    store_ = OpenStoreAt(folder_.Url(), clock_);
  }
};

constexpr std::chrono::hours kDay{24};

TEST_F(TrendLoopTest, WritesAFoldWhenASweepFinishes) {
  Sweep({FakeModel("org/a", 1, Config(1)), FakeModel("org/b", 2, Config(2))});
  clock_.Advance(kDay);
  Sweep({FakeModel("org/a", 1, Config(1))});
  clock_.Advance(std::chrono::hours{1});
  Sweep({FakeModel("org/a", 1, Config(1))});
  const auto folds = store_->ReadTrends({});
  ASSERT_EQ(folds->size(), 2u);
  EXPECT_EQ(folds->at(0).rows[0].numbers.models_tracked, 2);
  EXPECT_EQ(folds->at(1).sweep_id, store_->FindSweep("latest")->id);
  ExpectFoldEqualsHistory();
}

TEST_F(TrendLoopTest, KeepsTheConfiguredNumberOfDays) {
  options_.aggregate.trend_days = 2;
  for (int i = 0; i < 4; ++i) {
    Sweep({FakeModel("org/a", 1, Config(1))});
    clock_.Advance(kDay);
  }
  EXPECT_EQ(Days().size(), 2u);
  ExpectFoldEqualsHistory();
  options_.aggregate.trend_days = 0;
  ASSERT_TRUE(RebuildCurrent(*store_, options_.aggregate).ok());
  EXPECT_EQ(Days().size(), 4u) << "the history has them still";
}

TEST_F(TrendLoopTest, TakesTheDayOfTheClockWhenItIsSetBack) {
  clock_.Advance(10 * kDay);
  Sweep({FakeModel("org/a", 1, Config(1)), FakeModel("org/b", 2, Config(2))});
  clock_.Advance(-5 * kDay);
  Sweep({FakeModel("org/a", 1, Config(1))});
  EXPECT_EQ(Days().size(), 2u);
  clock_.Advance(5 * kDay);
  Sweep({FakeModel("org/a", 1, Config(1))});
  ASSERT_EQ(Days().size(), 2u);
  EXPECT_EQ(store_->ReadTrends({})->at(1).sweep_id, store_->FindSweep("latest")->id) << "the last in history counts";
  ExpectFoldEqualsHistory();
}

TEST_F(TrendLoopTest, AStoreOfAnOlderProgramGetsTrendsFromItsHistory) {
  for (int i = 0; i < 3; ++i) {
    Sweep({FakeModel("org/a", 1, Config(1))});
    clock_.Advance(kDay);
  }
  const std::vector<TrendFold> live = Trends();
  store::Current older = *store_->LoadCurrent();
  older.meta["fold_version"] = "3";
  ASSERT_TRUE(store_->ReplaceCurrent(older, {}).ok());
  Sql({"DELETE FROM trends"});
  EXPECT_TRUE(Days().empty());
  ASSERT_TRUE(MakeLoop().Start().ok());
  EXPECT_EQ(Trends(), live);
}

TEST_F(TrendLoopTest, ATrimmedHistoryKeepsOldTrends) {
  Script("org/a", 1);
  for (int i = 0; i < 3; ++i) {
    Sweep({FakeModel("org/a", 1, Config(1)), FakeModel("org/b", 2, Config(2))});
    clock_.Advance(kDay);
  }
  const std::vector<TrendFold> live = Trends();
  const std::string first = store_->Sweeps(10)->back().id, second = store_->Sweeps(10)->at(1).id;
  // Its runs go, and of its rows those that no later sweep has.
  Sql({"DELETE FROM steps WHERE sweep_id = '" + first + "'", "DELETE FROM result_runs WHERE sweep_id = '" + first + "'",
       "DELETE FROM plan_runs WHERE sweep_id = '" + first + "'",
       "DELETE FROM results WHERE NOT EXISTS (SELECT 1 FROM result_runs t WHERE t.of_seq <= results.seq"
       " AND t.of_seq + t.models > results.seq)",
       "DELETE FROM plans WHERE NOT EXISTS (SELECT 1 FROM plan_runs t WHERE t.of_sweep = plans.sweep_id"
       " AND t.of_position <= plans.position AND t.of_position + t.models > plans.position)",
       "DELETE FROM trends WHERE sweep_id = '" + second + "'"});
  ASSERT_TRUE(RebuildCurrent(*store_, options_.aggregate).ok());
  const std::vector<TrendFold> after = Trends();
  ASSERT_EQ(after.size(), live.size());
  EXPECT_EQ(after[0], live[0]) << "its sweep is gone";
  EXPECT_EQ(after[1].sweep_id, second) << "folded again";
  EXPECT_EQ(after[2], live[2]);
}

// Whatever happened, the history folds into the same trends, and these add up.
TEST_F(TrendLoopTest, ARandomHistoryFoldsIntoTheSameTrendsAndTheChangesAddUp) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const TempFolder folder;
    store_ = OpenStoreAt(folder.Url(), clock_);
    std::mt19937 random(seed);
    const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
    for (int sweep = 0; sweep < 8; ++sweep) {
      std::vector<RankedModel> models;
      for (char name = 'a'; name < 'g'; ++name) {
        if (below(4) == 0) continue;
        const std::string id = std::string("org/") + name;
        Script(id, below(3));
        models.push_back(FakeModel(id, static_cast<int>(models.size()) + 1, Config(name), below(2) ? 'a' : 'b'));
        models.back().info.family = below(5) == 0 ? Family::kAudio : Family::kNlp;
      }
      if (below(3) == 0) {
        options_.plan.toolchain = runner_.toolchain = TestToolchain(below(2) ? "2.15.0" : "2.16.0");
      }
      Sweep(std::move(models));
      ExpectFoldOfTheSnapshot();
      clock_.Advance(std::chrono::hours{below(40)});
    }
    ExpectFoldEqualsHistory();
    std::map<std::pair<TrendScope, std::string>, TrendNumbers> before;
    const auto all = store_->ReadTrends({}), families = store_->ReadTrends({.by = TrendScope::kFamily});
    for (const auto* folds : {&all, &families}) {
      for (const TrendFold& fold : **folds) {
        for (const TrendRow& row : fold.rows) {
          const TrendNumbers &now = row.numbers, was = before[{row.scope, row.name}];
          EXPECT_EQ(now.models_with_numbers, now.full_graph + now.models);
          if (fold.day == (*folds)->front().day) continue;  // there is nothing to compare with
          EXPECT_EQ(now.models_with_numbers, was.models_with_numbers + now.came - now.departed) << seed << row.name;
          EXPECT_EQ(now.full_graph,
                    was.full_graph + now.fixed - now.broken + now.came_full_graph - now.departed_full_graph)
              << seed << row.name;
        }
        before.clear();
        for (const TrendRow& row : fold.rows) before[{row.scope, row.name}] = row.numbers;
      }
    }
  }
}

}  // namespace
}  // namespace breakwatch::engine
