#include "store_fixture.h"

namespace breakwatch::store {
namespace {

std::string Found(Store& store) {
  std::string text;
  const auto damage = store.FindDamage();
  for (const Damage& one : *damage) text += Describe(one) + "\n";
  return text;
}

struct Case {
  const char *statement, *found;
};

TEST_P(StoreTest, NamesTableRowAndModelOfEveryDocument) {
  StoreThreeModels();
  for (const Case& one : {
           Case{"UPDATE sweeps SET document = '['", "table sweeps, row s1: "},
           {"UPDATE sweeps SET plan_document = ''", "table sweeps, row s1: "},
           {"UPDATE plans SET document = 'x' WHERE model = 'b/b'", "table plans, row sweep s1, mode eval, model b/b: "},
           {"UPDATE results SET document = '{' WHERE model = 'b/b'",
            "table results, row sweep s1, mode eval, model b/b: "},
           {"UPDATE captures SET document = '' WHERE id = 'capture-s1-c/c'",
            "table captures, row capture-s1-c/c, model c/c: "},
           {"UPDATE steps SET document = 'x' WHERE kind = 'begun'", "table steps, row 1: "},
           {"UPDATE revisions SET toolchain_document = '' WHERE model = 'a/a'", "table revisions, row a/a at "},
           {"UPDATE current SET document = 'x' WHERE model = 'a/a'", "table current, row a/a, model a/a: "},
           {"UPDATE events SET line = 'x' WHERE id = 2", "table events, row 2: "},
       }) {
    Break(one.statement);
    const std::string found = Found(*store_);
    EXPECT_NE(found.find(one.found), std::string::npos) << one.statement << "\n" << found;
    EXPECT_FALSE(store_->Check().ok());
  }
}

TEST_P(StoreTest, SkipsADamagedResultAndReportsItOnce) {
  StoreThreeModels();
  Break("UPDATE results SET document = '{' WHERE model = 'b/b'");
  for (int i = 0; i < 2; ++i) {
    const auto results = store_->Results("s1");
    ASSERT_OK(results);
    ASSERT_EQ(results->size(), 2u);
    EXPECT_EQ(results->back().info.id, "c/c");
  }
  EXPECT_EQ(store_->NewestResults({})->size(), 2u);
  ASSERT_EQ(reported_.size(), 1u);
  EXPECT_NE(reported_.front().find("table results, row sweep s1, mode eval, model b/b: "), std::string::npos);
}

TEST_P(StoreTest, IgnoresADamagedCapture) {
  StoreThreeModels();
  Break("UPDATE captures SET document = 'x' WHERE id = 'capture-s1-c/c'");
  EXPECT_EQ(store_->LoadCapture("capture-s1-c/c").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store_->Results("s1")->size(), 2u);
  // A model that shares it is stored whole, not as a change of what cannot be read.
  Begin("s2", {"d/d"});
  ModelResult shared = SampleResult("s2", "d/d");
  shared.capture_id = "capture-s1-c/c";
  Append(shared);
  EXPECT_EQ(store_->Results("s2")->front().capture.breaks, 2);
}

TEST_P(StoreTest, PlansAndReplaysAroundADamagedRow) {
  StoreThreeModels();
  Break("UPDATE plans SET document = 'x' WHERE model = 'b/b'");
  EXPECT_EQ(store_->LoadPlan("s1")->models.size(), 2u);
  Break("UPDATE results SET document = '{' WHERE model = 'a/a'");
  std::vector<std::string> replayed;
  ASSERT_OK(store_->ReplayHistory([&](const HistoryStep& step) -> Result<void> {
    if (step.result) replayed.push_back(step.result->info.id);
    return {};
  }));
  EXPECT_EQ(replayed, (std::vector<std::string>{"b/b", "c/c"}));
}

TEST_P(StoreTest, RequestsANewFoldWhenARowOfItIsDamaged) {
  StoreThreeModels();
  Break("UPDATE current SET document = 'x' WHERE model = 'a/a'");
  const auto current = store_->LoadCurrent();
  ASSERT_OK(current);
  EXPECT_TRUE(current->damaged);
  EXPECT_EQ(current->models.size(), 2u);
}

TEST_P(StoreTest, SendsALineInPlaceOfADamagedEvent) {
  StoreThreeModels();
  Break("UPDATE events SET line = 'x' WHERE id = 2");
  const auto events = store_->EventsAfter(0, 10, 1 << 20);
  ASSERT_OK(events);
  ASSERT_EQ(events->size(), 3u);
  EXPECT_NE((*events)[1].line.find("\"msg\":\"event_lost\""), std::string::npos) << (*events)[1].line;
  EXPECT_EQ((*events)[1].id, 2);
  EXPECT_LT((*events)[0].ts_ns, (*events)[1].ts_ns);
}

TEST_P(StoreTest, NamesTheSweepThatCannotBeRead) {
  StoreThreeModels();
  Begin("s2", {"a/a"});
  Break("UPDATE sweeps SET document = 'x' WHERE id = 's1'");
  const auto found = store_->FindSweep("s1");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kStore);
  EXPECT_NE(found.error().message.find("store repair"), std::string::npos) << found.error().message;
  EXPECT_EQ(store_->Sweeps(10)->size(), 1u);
  EXPECT_EQ(store_->Results("s1")->size(), 3u);
}

}  // namespace
}  // namespace breakwatch::store
