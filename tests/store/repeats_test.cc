// A sweep of unchanged models refers to the rows of the sweep before it.
#include "breakwatch/core/brief_event.h"
#include "breakwatch/core/json.h"
#include "repeats_fixture.h"
#include "runs.h"

namespace breakwatch::store {
namespace {

TEST_P(RepeatsTest, AnUnchangedSweepAddsNoRowForAModel) {
  EXPECT_EQ(Count("results", "s2"), 4) << "reused, so not as in the sweep before";
  SweepUnchanged("s3"), SweepUnchanged("s4");
  for (const char* sweep : {"s3", "s4"}) {
    EXPECT_EQ(Count("plans", sweep), 0) << sweep;
    EXPECT_EQ(Count("plan_runs", sweep), 1) << sweep;
    EXPECT_EQ(Count("results", sweep), 0) << sweep;
    EXPECT_EQ(Count("result_runs", sweep), 1) << sweep;
    EXPECT_EQ(Count("steps", sweep), 3) << "begun, one for all results, finished";
    EXPECT_EQ(Count("event_runs", sweep), 2) << sweep;
  }
  EXPECT_OK(store_->Check());
}

TEST_P(RepeatsTest, ItsPlanAndResultsReadAsTheyWereWritten) {
  SweepUnchanged("s3");
  for (int session = 0; session < 2; ++session) {
    EXPECT_EQ(ToJson(*store_->LoadPlan("s3")), ToJson(Unchanged("s3")));
    const auto results = store_->Results("s3");
    ASSERT_OK(results);
    ASSERT_EQ(results->size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(ToJson((*results)[i]), ToJson(Reused("s3", kModels[i])));
    store_ = Open(/*read_only=*/true);
  }
}

TEST_P(RepeatsTest, EveryReaderFindsItsResults) {
  SweepUnchanged("s3");
  const auto newest = store_->NewestResults({});
  ASSERT_OK(newest);
  ASSERT_EQ(newest->size(), 4u);
  for (const ModelResult& result : *newest) EXPECT_EQ(result.sweep_id, "s3");
  EXPECT_EQ(store_->NewestResults({.model = "b/b"})->front().sweep_id, "s3");
  std::vector<std::string> of_model;
  std::int64_t place = 0;
  for (auto page = *store_->HistoryBefore("b/b", 0, {.rows = 1}); !page.empty();
       page = *store_->HistoryBefore("b/b", place, {.rows = 1})) {
    of_model.push_back(page.front().result.sweep_id);
    place = page.front().place;
  }
  EXPECT_EQ(of_model, (std::vector<std::string>{"s3", "s2", "s1"}));
  std::vector<std::string> pages;
  place = 0;
  for (auto page = *store_->ResultsAfter("s3", "", 0, {.rows = 3}); !page.empty();
       page = *store_->ResultsAfter("s3", "eval", place, {.rows = 3})) {
    for (const PlacedResult& row : page) pages.push_back(row.result.info.id), place = row.place;
  }
  EXPECT_EQ(pages, kModels);
  const auto plan = store_->PlanAfter("s3", 1, 2);
  ASSERT_OK(plan);
  EXPECT_EQ(plan->actions, (std::map<std::string, std::int64_t>{{"reuse", 4}}));
  EXPECT_EQ(plan->places, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(plan->plan.models.front().info.id, "b/b");
  int outcomes = 0;
  ASSERT_OK(store_->EachOutcome("s3", [&](ModelResult result) -> Result<void> {
    EXPECT_EQ(result.sweep_id, "s3");
    EXPECT_EQ(result.info.downloads, 1234);
    EXPECT_EQ(result.info.family, Family::kNlp);
    EXPECT_EQ(result.capture.sites.size(), 1u);
    return ++outcomes, Result<void>();
  }));
  EXPECT_EQ(outcomes, 4);
}

TEST_P(RepeatsTest, ItsEventsAreTheOnesThatWereGiven) {
  const std::size_t before = Events().size();
  SweepUnchanged("s3");
  std::vector<Event> given{SweepEvent("sweep_started", "s3")};
  for (const PlannedModel& planned : Unchanged("s3").models) given.push_back(PlannedEvent("s3", planned));
  for (const std::string& model : kModels) given.push_back(BriefEvent(Reused("s3", model)));
  given.push_back(SweepEvent("sweep_finished", "s3"));
  const std::vector<StoredEvent> events = Events();
  ASSERT_EQ(events.size(), before + given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const StoredEvent& stored = events[before + i];
    EXPECT_EQ(stored.id, static_cast<std::int64_t>(before + i + 1));
    EXPECT_GT(stored.ts_ns, events[before + i - 1].ts_ns);
    EXPECT_EQ(stored.line, ComposeLine(given[i], stored.id, stored.ts_ns));
    EXPECT_EQ(stored.sweep_id, given[i].sweep_id);
    EXPECT_EQ(stored.model, given[i].model);
    EXPECT_EQ(stored.commit, given[i].commit);
  }
}

TEST_P(RepeatsTest, ItsEventsAreReadInPartsOfAnySize) {
  SweepUnchanged("s3");
  const std::vector<StoredEvent> all = Events();
  for (const int limit : {1, 2, 3, 7}) {
    std::vector<StoredEvent> read;
    for (auto part = *store_->EventsAfter(0, limit, 1u << 30); !part.empty();
         part = *store_->EventsAfter(read.back().id, limit, 1u << 30))
      read.insert(read.end(), part.begin(), part.end());
    ASSERT_EQ(read.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(read[i].line, all[i].line);
  }
  EXPECT_EQ(store_->EventsAfter(0, 1000, 1)->size(), 1u);
  for (const StoredEvent& event : all)
    EXPECT_EQ(*store_->NewestEventBefore(SystemTime{std::chrono::nanoseconds(event.ts_ns + 1)}), event.id);
  EXPECT_EQ(*store_->NewestEventId(), all.back().id);
}

TEST_P(RepeatsTest, OldEventsAreRemovedOneByOneAlsoWithinARun) {
  SweepUnchanged("s3"), SweepUnchanged("s4");
  const std::vector<StoredEvent> all = Events();
  std::int64_t oldest = 1;
  while (*store_->TrimEvents({}, 1, 1) == 1) {
    const auto left = store_->EventsAfter(0, 1000, 1u << 30);
    ASSERT_OK(left);
    ASSERT_EQ(left->front().id, ++oldest);
    EXPECT_EQ(left->front().line, all[static_cast<std::size_t>(oldest) - 1].line);
    ASSERT_OK(store_->Check());
  }
  EXPECT_EQ(Events().size(), 10u) << "the events of the newest sweep";
}

TEST_P(RepeatsTest, OnlyWhatChangedIsWritten) {
  Plan plan = Unchanged("s3");
  plan.models[2].reason = "commit aaaaaaa -> bbbbbbb, same structure";
  BeginUnchanged(plan);
  EXPECT_EQ(Count("plans", "s3"), 1);
  ASSERT_OK(AppendUnchanged("s3", {"a/a", "b/b"}));
  ModelResult changed = Reused("s3", "c/c");
  changed.rebuild_reason = plan.models[2].reason;
  Append(changed);
  ASSERT_OK(AppendUnchanged("s3", {"d/d"}));
  FinishUnchanged("s3");
  EXPECT_EQ(Count("results", "s3"), 1);
  EXPECT_EQ(ToJson(*store_->LoadPlan("s3")), ToJson(plan));
  EXPECT_EQ(ToJson(store_->Results("s3")->at(2)), ToJson(changed));
  EXPECT_EQ(ModelsOf("s3"), kModels);
  SweepUnchanged("s4");  // as s2 and not as s3
  EXPECT_EQ(Count("results", "s4"), 1);
  EXPECT_EQ(ModelsOf("s4"), kModels);
  EXPECT_OK(store_->Check());
}

TEST_P(RepeatsTest, AModelThatComesOrGoesMovesTheOthers) {
  const std::vector<std::string> models{"b/b", "new/new", "c/c", "d/d"};
  Begin("s3", {});  // not complete: not compared with
  BeginUnchanged(Unchanged("s4", models));
  EXPECT_EQ(Count("plans", "s4"), 1);
  Append(SampleResult("s4", "new/new"));
  ASSERT_OK(AppendUnchanged("s4", {"b/b", "c/c", "d/d"}));
  FinishUnchanged("s4");
  EXPECT_EQ(Count("results", "s4"), 1);
  EXPECT_EQ(ModelsOf("s4"), models) << "in the order of the plan";
  EXPECT_EQ(ToJson(*store_->LoadPlan("s4")), ToJson(Unchanged("s4", models)));
  EXPECT_OK(store_->Check());
}

TEST_P(RepeatsTest, AResumedSweepHasEveryEntryOnce) {
  BeginUnchanged(Unchanged("s3"));
  ASSERT_OK(AppendUnchanged("s3", {"a/a", "c/c"}));
  Sweep interrupted = SampleSweep("s3");
  interrupted.state = SweepState::kInterrupted;
  interrupted.planned = 4;
  ASSERT_OK(store_->FinishSweep(interrupted, {}, {}));
  store_ = Open();
  EXPECT_EQ(store_->LoadPlan("s3")->models.size(), 4u);
  EXPECT_EQ(ModelsOf("s3"), (std::vector<std::string>{"a/a", "c/c"}));
  EXPECT_EQ(AppendUnchanged("s3", {"b/b", "c/c"}).error().code, ErrorCode::kInvalid) << "c/c has a result";
  EXPECT_EQ(ModelsOf("s3"), (std::vector<std::string>{"a/a", "c/c"})) << "nothing of a failed write stays";
  ASSERT_OK(AppendUnchanged("s3", {"b/b", "d/d"}));
  EXPECT_EQ(AppendUnchanged("s3", {"d/d"}).error().code, ErrorCode::kInvalid);
  FinishUnchanged("s3");
  EXPECT_EQ(ModelsOf("s3"), kModels);
  EXPECT_EQ(Count("results", "s3"), 0);
  EXPECT_OK(store_->Check());
}

TEST_P(RepeatsTest, HistoryHasEveryRepeatedResultAtItsStep) {
  SweepUnchanged("s3");
  std::vector<std::string> results;
  std::int64_t seq = 0;
  ASSERT_OK(store_->ReplayHistory([&](const HistoryStep& step) -> Result<void> {
    EXPECT_EQ(step.seq, ++seq);
    if (!step.result || step.result->sweep_id != "s3") return {};
    EXPECT_EQ(step.sweep.id, "s3");
    EXPECT_EQ(ToJson(*step.result), ToJson(Reused("s3", step.result->info.id)));
    results.push_back(step.result->info.id);
    return {};
  }));
  EXPECT_EQ(results, kModels);
  EXPECT_EQ(seq, 18) << "three sweeps of four models";
}

TEST_P(RepeatsTest, ADamagedRowIsNotRepeated) {
  SweepUnchanged("s3");
  Break("UPDATE results SET document = '{' WHERE sweep_id = 's2' AND model = 'b/b'");
  Break("UPDATE plans SET document = 'x' WHERE sweep_id = 's2' AND model = 'c/c'");
  EXPECT_EQ(ModelsOf("s3"), (std::vector<std::string>{"a/a", "c/c", "d/d"}));
  EXPECT_FALSE(reported_.empty());
  SweepUnchanged("s4");
  EXPECT_EQ(ModelsOf("s4"), kModels);
  EXPECT_EQ(ToJson(*store_->LoadPlan("s4")), ToJson(Unchanged("s4")));
  SweepUnchanged("s5");
  EXPECT_EQ(Count("results", "s5") + Count("plans", "s5"), 0) << "its model has a good row again";
}

TEST_P(RepeatsTest, AnEventWhoseRowIsDamagedIsReportedAsLost) {
  SweepUnchanged("s3");
  const std::vector<StoredEvent> before = Events();
  Break("UPDATE results SET document = '{' WHERE sweep_id = 's2' AND model = 'b/b'");
  const std::vector<StoredEvent> events = Events();
  ASSERT_EQ(events.size(), before.size());
  int lost = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].id, before[i].id);
    EXPECT_EQ(events[i].ts_ns, before[i].ts_ns);
    lost += NameOf(events[i]) == "event_lost" ? 1 : 0;
  }
  EXPECT_EQ(lost, 2) << "of s2 and s3";
}

TEST_P(RepeatsTest, ALostRowIsFound) {
  SweepUnchanged("s3");
  Break("DELETE FROM results WHERE sweep_id = 's2' AND model = 'b/b'");
  const auto checked = store_->Check();
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find("lost results that they repeat"), std::string::npos)
      << checked.error().message;
  EXPECT_EQ(ModelsOf("s3"), (std::vector<std::string>{"a/a", "c/c", "d/d"}));
}

TEST_P(RepeatsTest, MoreModelsThanARunHasAreInSeveral) {
  std::vector<std::string> models;
  for (std::int64_t i = 0; i < kMaxRun + 10; ++i) models.push_back("org/model-" + std::to_string(10000 + i));
  Begin("s3", models);
  std::vector<ResultWrite> writes;
  for (const std::string& model : models) writes.push_back({SampleResult("s1", model), {}, {}});
  for (ResultWrite& write : writes) write.result.sweep_id = "s3";
  ASSERT_OK(store_->AppendResults(writes));
  Finish("s3");
  for (const char* sweep : {"s4", "s5"}) {
    BeginUnchanged(Unchanged(sweep, models));
    ASSERT_OK(AppendUnchanged(sweep, models));
    FinishUnchanged(sweep, static_cast<int>(models.size()));
  }
  EXPECT_EQ(Count("results", "s5"), 0);
  EXPECT_EQ(Count("result_runs", "s5"), 2);
  EXPECT_EQ(Count("plan_runs", "s5"), 2);
  EXPECT_EQ(ModelsOf("s5"), models);
  EXPECT_EQ(store_->HistoryBefore(models.back(), 0, {})->size(), 3u);
  EXPECT_EQ(store_->HistoryBefore(models.front(), 0, {})->size(), 3u);
  EXPECT_OK(store_->Check());
}

}  // namespace
}  // namespace breakwatch::store
