// Events of old sweeps, which are removed after delivery, and the cost of captures.
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

// A finished sweep without models and with this number of events; later ones start later.
void AddSweep(SweepStore& store, int number, int count) {
  Sweep sweep = SampleSweep("s" + std::to_string(number));
  sweep.started_at += std::chrono::seconds(number);
  std::vector<Event> events(static_cast<std::size_t>(count), SampleEvent("model_planned"));
  for (Event& event : events) event.sweep_id = sweep.id;
  ASSERT_OK(store.BeginSweep(sweep, SamplePlan(sweep.id, {}), events, {}, {}));
  sweep.state = SweepState::kFinished;
  ASSERT_OK(store.FinishSweep(sweep, {}, {}));
}

std::int64_t Oldest(EventLog& log) { return log.EventsAfter(0, 1, 1)->at(0).id; }

const std::vector<std::string> kExporters{"file", "loki"};

TEST_P(StoreTest, RemovesEventsOfOldSweepsThatEveryExporterIsDoneWith) {
  AddSweep(*store_, 1, 5), AddSweep(*store_, 2, 5), AddSweep(*store_, 3, 5);
  EXPECT_EQ(*store_->TrimEvents(kExporters, 2, 100), 0);  // nobody has had any
  ASSERT_OK(store_->SetCursor("file", 15));
  ASSERT_OK(store_->SetCursor("loki", 3));
  EXPECT_EQ(*store_->TrimEvents(kExporters, 2, 100), 3);
  EXPECT_EQ(Oldest(*store_), 4);
  ASSERT_OK(store_->SetCursor("loki", 15));
  EXPECT_EQ(*store_->TrimEvents(kExporters, 2, 100), 2);
  EXPECT_EQ(Oldest(*store_), 6);
  EXPECT_EQ(*store_->TrimEvents(kExporters, 3, 100), 0);
  EXPECT_OK(store_->Check());
}

TEST_P(StoreTest, RemovesAFewAtATimeAndNeverTheNewestEvent) {
  AddSweep(*store_, 1, 5), AddSweep(*store_, 2, 5), AddSweep(*store_, 3, 0);
  EXPECT_EQ(*store_->TrimEvents({}, 1, 4), 0);  // the kept sweep has no event to begin with
  EXPECT_EQ(*store_->TrimEvents({}, 2, 4), 4);
  EXPECT_EQ(*store_->TrimEvents({}, 2, 4), 1);
  ASSERT_OK(store_->AppendEvents(std::vector{SampleEvent("sweep_finished")}));
  EXPECT_EQ(*store_->NewestEventId(), 11);
  EXPECT_OK(store_->Check());
}

TEST_P(StoreTest, KnowsWhatTheNewestCaptureOfAStructureClassAndTypeTookInItsMode) {
  Begin("s1", {"a/b", "c/d"});
  ModelResult first = SampleResult("s1", "a/b"), second = SampleResult("s1", "c/d");
  first.info.architectures = second.info.architectures = {"SampleModel"};
  first.info.model_type = second.info.model_type = "sample";
  first.capture.wall_s = 10, first.capture.peak_rss_mb = 700;
  second.capture.wall_s = 20, second.capture.peak_rss_mb = 900;
  Append(first);
  Append(second);
  const std::vector<std::string> names{"structure-a/b", "SampleModel", "sample", "nobody"};
  const auto structures = *store_->Costs(CostOf::kStructure, names, "eval");
  ASSERT_EQ(structures.size(), 1u);
  EXPECT_EQ(structures.at("structure-a/b").wall_s, 10);
  EXPECT_EQ(structures.at("structure-a/b").peak_rss_mb, 700);
  EXPECT_EQ(store_->Costs(CostOf::kClass, names, "eval")->at("SampleModel").wall_s, 20);
  EXPECT_EQ(store_->Costs(CostOf::kModelType, names, "eval")->at("sample").peak_rss_mb, 900);
  EXPECT_TRUE(store_->Costs(CostOf::kClass, names, "train")->empty());
}

TEST_P(StoreTest, StoresSeveralResultsTogetherOrNone) {
  Begin("s1", {"a/b", "c/d"});
  const ResultWrite one{SampleResult("s1", "a/b"), {SampleEvent("model_captured", "a/b")}, {{SampleTracked("a/b")}}};
  const ResultWrite two{SampleResult("s1", "c/d"), {SampleEvent("model_captured", "c/d")}, {}};
  EXPECT_FALSE(store_->AppendResults(std::vector{one, two, one}).ok());  // the third is there already
  EXPECT_TRUE(store_->Results("s1")->empty());
  EXPECT_TRUE(store_->LoadCurrent()->models.empty());
  ASSERT_OK(store_->AppendResults(std::vector{one, two}));
  EXPECT_EQ(store_->Results("s1")->size(), 2u);
  EXPECT_EQ(*store_->NewestEventId(), 2);
}

TEST_P(StoreTest, DropsTheRowsOfModelsThatAreForgotten) {
  ASSERT_OK(store_->ReplaceCurrent({{SampleTracked("a/b"), SampleTracked("c/d")}, {}}, {}));
  Begin("s1", {"e/f"});
  CurrentChange change;
  change.removals = {"a/b"};
  ASSERT_OK(AppendOne(*store_, SampleResult("s1", "e/f"), {}, change));
  ASSERT_EQ(store_->LoadCurrent()->models.size(), 1u);
  EXPECT_EQ(store_->LoadCurrent()->models[0].model, "c/d");
}

TEST_P(StoreTest, LetsOneWriterSweepIntoADatabaseWhateverDirectoryItCallsItsOwn) {
  ASSERT_OK(store_->LockAsWriter());
  ASSERT_OK(store_->LockAsWriter());  // it has it
  auto other = Open();
  const auto refused = other->LockAsWriter();
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(refused.error().retryable);
  store_.reset();
  EXPECT_OK(other->LockAsWriter());
}

TEST_P(StoreTest, PrefersThePrimaryToolchainsSweepAsTheLatest) {
  AddSweep(*store_, 1, 0);
  Sweep further = SampleSweep("s2");
  further.started_at += std::chrono::hours(1);
  Plan plan = SamplePlan("s2", {});
  plan.primary = false;
  ASSERT_OK(store_->BeginSweep(further, plan, {}, {}, {}));
  further.state = SweepState::kFinished;
  ASSERT_OK(store_->FinishSweep(further, {}, {}));
  EXPECT_EQ(store_->FindSweep("latest")->id, "s1");
  EXPECT_FALSE(store_->LoadPlan("s2")->primary);
}

}  // namespace
}  // namespace breakwatch::store
