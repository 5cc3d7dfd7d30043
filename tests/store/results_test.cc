#include "breakwatch/core/json.h"
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

std::string Whole(const ModelResult& result) { return ToJson(result) + ToJson(result.capture); }

TEST_P(StoreTest, ReturnsCompleteResultsInPlanOrder) {
  Begin("s1", {"z/one", "a/two"});
  const ModelResult two = SampleResult("s1", "a/two"), one = SampleResult("s1", "z/one");
  Append(two);
  Append(one);
  const auto results = store_->Results("s1");
  ASSERT_OK(results);
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ(Whole((*results)[0]), Whole(one));
  EXPECT_EQ(Whole((*results)[1]), Whole(two));
}

TEST_P(StoreTest, GivesResultsOneAtATimeInPlanOrderOverManyPages) {
  std::vector<std::string> models;
  for (int i = 0; i < 1'100; ++i) models.push_back("org/m" + std::to_string((i * 7'919) % 1'100));
  Begin("s1", models);
  std::vector<ResultWrite> writes;
  for (auto model = models.rbegin(); model != models.rend(); ++model) {
    if (*model != "org/m5") writes.push_back({SampleResult("s1", *model), {}, {}});
  }
  ASSERT_OK(store_->AppendResults(writes));
  std::erase(models, "org/m5");
  std::vector<std::string> seen, outcomes;
  ASSERT_OK(store_->EachResult("s1", [&](const ModelResult& result) -> Result<void> {
    EXPECT_EQ(Whole(result), Whole(SampleResult("s1", result.info.id)));
    seen.push_back(result.info.id);
    return {};
  }));
  ASSERT_OK(store_->EachOutcome("s1", [&](const ModelResult& result) -> Result<void> {
    outcomes.push_back(result.info.id);
    return {};
  }));
  EXPECT_EQ(seen, models);
  EXPECT_EQ(outcomes, models);
}

TEST_P(StoreTest, EndsWithTheErrorOfTheUser) {
  Begin("s1", {"a/b", "c/d"});
  Append(SampleResult("s1", "a/b"));
  Append(SampleResult("s1", "c/d"));
  int used = 0;
  const auto stopped = store_->EachResult("s1", [&](const ModelResult&) -> Result<void> {
    return ++used, Error{ErrorCode::kStore, "no space"};
  });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().message, "no space");
  EXPECT_EQ(used, 1);
  EXPECT_EQ(store_->EachResult("none", [](const ModelResult&) { return Result<void>(); }).error().code,
            ErrorCode::kNotFound);
}

TEST_P(StoreTest, ReadsNoCaptureAgainThatTheCallerHas) {
  Begin("s1", {"a/b", "c/d"});
  const ModelResult first = SampleResult("s1", "a/b");
  Append(first);
  ModelResult changed = SampleResult("s1", "c/d");
  changed.capture_id = first.capture_id;
  changed.capture.detail = "its own";
  Append(changed);
  CaptureResult known = first.capture;
  known.detail = "known";
  std::map<std::string, std::pair<std::string, bool>> seen;  // by model
  const auto see = [&](const ModelResult& result, bool is_stored) -> Result<void> {
    seen[result.info.id] = {result.capture.detail, is_stored};
    return {};
  };
  ASSERT_OK(store_->EachCompared("s1", nullptr, see));
  EXPECT_EQ(seen["a/b"], std::pair(first.capture.detail, true));
  EXPECT_EQ(seen["c/d"], std::pair(std::string("its own"), false)) << "it may not stand for the stored one";
  ASSERT_OK(store_->EachCompared(
      "s1", [&](const std::string& id) { return id == first.capture_id ? &known : nullptr; }, see));
  EXPECT_EQ(seen["a/b"].first, "known");
  EXPECT_EQ(seen["c/d"].first, "its own");
}

TEST_P(StoreTest, FindsTheNewestResultsOfAModeInSweepsThatHaveIt) {
  Begin("s1", {"a/b"});
  ModelResult tried = SampleResult("s1", "a/b");
  tried.capture.mode = "fix";
  Append(tried);
  EXPECT_EQ(store_->NewestResults({.mode = "fix"})->size(), 1u) << "the modes of a running sweep are not known";
  EXPECT_TRUE(store_->NewestResults({.mode = "train"})->empty());
  Sweep sweep = FinishedSweep("s1");
  sweep.modes = {{"fix", {{"graph_breaks", 1}}}};
  ASSERT_OK(store_->FinishSweep(sweep, {}, {}));
  EXPECT_EQ(store_->NewestResults({.mode = "fix"})->size(), 1u);
  EXPECT_TRUE(store_->NewestResults({.mode = "train"})->empty());
}

TEST_P(StoreTest, GivesOutcomesWithTheSitesOfTheResultEvenIfItsCaptureDiffers) {
  Begin("s1", {"a/b", "c/d", "e/f"});
  ModelResult first = SampleResult("s1", "a/b");
  first.info.family = Family::kVision;
  Append(first);
  ModelResult shared = SampleResult("s1", "c/d"), skipped = SampleResult("s1", "e/f");
  shared.capture_id = first.capture_id;
  shared.capture.sites.resize(1);
  shared.capture.sites[0].reason = "another";
  Append(shared);
  skipped.capture_id.clear();
  skipped.capture = CaptureResult{};
  skipped.capture.status = Status::kSkippedGated;
  skipped.capture.mode = "eval";
  Append(skipped);
  std::vector<ModelResult> outcomes;
  ASSERT_OK(store_->EachOutcome("s1", [&](ModelResult result) -> Result<void> {
    outcomes.push_back(std::move(result));
    return {};
  }));
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes[0].info.family, Family::kVision);
  EXPECT_EQ(outcomes[0].capture.mode, first.capture.mode);
  EXPECT_EQ(outcomes[0].capture.status, first.capture.status);
  ASSERT_EQ(outcomes[0].capture.sites.size(), first.capture.sites.size());
  for (std::size_t i = 0; i < first.capture.sites.size(); ++i) {
    const BreakSite &site = outcomes[0].capture.sites[i], &stored = first.capture.sites[i];
    EXPECT_EQ(site.reason, stored.reason);
    EXPECT_EQ(site.gb_id, stored.gb_id);
    EXPECT_EQ(site.fixability, stored.fixability);
    EXPECT_EQ(site.file, stored.file);
    EXPECT_EQ(site.line, stored.line);
    EXPECT_EQ(site.occurrences, stored.occurrences);
  }
  ASSERT_EQ(outcomes[1].capture.sites.size(), 1u);
  EXPECT_EQ(outcomes[1].capture.sites[0].reason, "another");
  EXPECT_EQ(outcomes[2].capture.status, Status::kSkippedGated);
  EXPECT_TRUE(outcomes[2].capture.sites.empty());
}

TEST_P(StoreTest, KeepsAResultWithoutACapture) {
  Begin("s1", {"a/b"});
  ModelResult result = SampleResult("s1", "a/b");
  result.capture_id.clear();
  result.structure.clear();
  result.capture = CaptureResult{};
  result.capture.status = Status::kSkippedGated;
  result.capture.detail = "gated: ask for access";
  result.capture.mode = "eval";
  Append(result);
  EXPECT_EQ(Whole(store_->Results("s1")->at(0)), Whole(result));
}

TEST_P(StoreTest, KeepsWhereASharedCaptureDiffersFromTheStoredOne) {
  Begin("s1", {"a/b", "c/d"});
  Append(SampleResult("s1", "a/b"));
  ModelResult shared = SampleResult("s1", "c/d");
  shared.capture_id = SampleResult("s1", "a/b").capture_id;
  shared.shared_from = "a/b";
  shared.capture.detail = "as a/b";
  shared.capture.sites.clear();
  Append(shared);
  EXPECT_EQ(Whole(store_->Results("s1")->at(1)), Whole(shared));
  EXPECT_EQ(store_->LoadCapture(shared.capture_id)->detail, "2 breaks at 1 site");
}

TEST_P(StoreTest, RefusesASecondResultOfTheSameModelAndMode) {
  Begin("s1", {"a/b"});
  Append(SampleResult("s1", "a/b"));
  ModelResult second = SampleResult("s1", "a/b");
  second.capture_id = "another";
  const std::vector<Event> events{SampleEvent("model_captured", "a/b")};
  const auto refused = AppendOne(*store_, second, events);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(store_->LoadCapture("another").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(*store_->NewestEventId(), 0);
  second.capture.mode = "train";
  EXPECT_OK(AppendOne(*store_, second, events));
}

TEST_P(StoreTest, RefusesAResultOfAnUnknownOrFinishedSweep) {
  EXPECT_EQ(AppendOne(*store_, SampleResult("s1", "a/b")).error().code, ErrorCode::kNotFound);
  Begin("s1", {"a/b"});
  Finish("s1");
  EXPECT_EQ(AppendOne(*store_, SampleResult("s1", "a/b")).error().code, ErrorCode::kInvalid);
}

TEST_P(StoreTest, LeavesNothingOfAStepThatFails) {
  Begin("s1", {"a/b"});
  ModelResult result = SampleResult("s1", "a/b");
  result.capture.inputs_json = "{ not JSON";
  const std::vector<Event> events{SampleEvent("model_captured", "a/b")};
  CurrentChange change;
  change.upserts = {SampleTracked("a/b")};
  ASSERT_FALSE(AppendOne(*store_, result, events, change).ok());
  EXPECT_TRUE(store_->Results("s1")->empty());
  EXPECT_TRUE(store_->LoadCurrent()->models.empty());
  EXPECT_EQ(*store_->NewestEventId(), 0);
  EXPECT_TRUE(store_->Histories(std::vector<std::string>{"structure-a/b"}, "eval")->empty());
  EXPECT_OK(store_->Check());
  // The session is whole again.
  EXPECT_OK(AppendOne(*store_, SampleResult("s1", "a/b"), events, change));
}

TEST_P(StoreTest, FindsTheNewestResultOfAModel) {
  EXPECT_TRUE(store_->NewestResults({.model = "a/b"})->empty());
  for (const std::string sweep : {"s1", "s2"}) {
    Begin(sweep, {"a/b", "c/d"});
    Append(SampleResult(sweep, "a/b"));
  }
  Append(SampleResult("s2", "c/d"));
  const auto newest = store_->NewestResults({.model = "a/b"});
  ASSERT_OK(newest);
  ASSERT_EQ(newest->size(), 1u);
  EXPECT_EQ(newest->front().sweep_id, "s2");
  EXPECT_EQ(*store_->Models(), (std::vector<std::string>{"a/b", "c/d"}));
}

TEST_P(StoreTest, FindsTheNewestResultOfEachModeAndToolchain) {
  const auto append = [&](const std::string& sweep_id, const std::string& model, const std::string& toolchain,
                          const std::string& revision) {
    Sweep sweep = SampleSweep(sweep_id);
    sweep.toolchain.name = toolchain;
    ASSERT_TRUE(store_->BeginSweep(sweep, SamplePlan(sweep_id, {model}), {}, {}, {}).ok());
    ModelResult result = SampleResult(sweep_id, model);
    result.info.sha = revision;
    result.capture.toolchain.name = toolchain;
    Append(result);
  };
  append("s1", "a/b", "default", std::string(40, '1'));
  append("s2", "a/b", "default", std::string(40, '2'));
  append("s3", "a/b", "old", std::string(40, '2'));
  append("s4", "c/d", "old", std::string(40, '3'));
  const auto sweeps = [&](const ResultFilter& filter) {
    std::vector<std::string> ids;
    const auto results = store_->NewestResults(filter);
    if (!results) return std::vector<std::string>{results.error().message};
    for (const ModelResult& result : *results) ids.push_back(result.sweep_id);
    return ids;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(sweeps({}), (Ids{"s3", "s2", "s4"}));
  EXPECT_EQ(sweeps({.model = "a/b"}), (Ids{"s3", "s2"}));
  EXPECT_EQ(sweeps({.model = "a/b", .mode = "train"}), Ids{});
  EXPECT_EQ(sweeps({.toolchain = "old"}), (Ids{"s3", "s4"}));
  EXPECT_EQ(sweeps({.model = "a/b", .revision = "1111"}), Ids{"s1"});
  EXPECT_EQ(sweeps({.model = "a%", .revision = "_"}), Ids{});
  EXPECT_EQ(sweeps({.model = "a/b", .each_commit = true}), (Ids{"s3", "s2", "s1"}));
}

TEST_P(StoreTest, OrdersModelNamesByBytes) {
  Begin("s1", {"a/b", "B/a", "_/c"});
  for (const std::string model : {"a/b", "B/a", "_/c"}) Append(SampleResult("s1", model));
  EXPECT_EQ(*store_->Models(), (std::vector<std::string>{"B/a", "_/c", "a/b"}));
}

TEST_P(StoreTest, ReportsThatASweepDoesNotExist) {
  EXPECT_EQ(store_->Results("none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store_->LoadPlan("none").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace breakwatch::store
