#include "breakwatch/store/pages.h"

#include "breakwatch/core/json.h"
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

const PageSize kOneRow{.rows = 1, .bytes = 8u << 20};

TEST_P(StoreTest, SweepsArePagedFromTheNewest) {
  for (const char* id : {"s1", "s2", "s3"}) Begin(id, {"a/a"}), Finish(id);
  std::vector<std::string> seen;
  for (std::string before;;) {
    const auto page = store_->SweepsBefore(before, 1);
    ASSERT_OK(page);
    if (page->empty()) break;
    ASSERT_EQ(page->size(), 1u);
    seen.push_back(before = page->front().id);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"s3", "s2", "s1"}));
  EXPECT_EQ(store_->SweepsBefore("none", 1).error().code, ErrorCode::kNotFound);
}

TEST_P(StoreTest, ResultsArePagedInPlanOrderWhileOthersArrive) {
  Begin("s1", {"z/one", "a/two", "m/three"});
  Append(SampleResult("s1", "a/two"));
  const auto first = store_->ResultsAfter("s1", "", 0, kOneRow);
  ASSERT_OK(first);
  ASSERT_EQ(first->size(), 1u);
  EXPECT_EQ(first->front().result.info.id, "a/two");
  Append(SampleResult("s1", "z/one"));
  Append(SampleResult("s1", "m/three"));
  const auto next = store_->ResultsAfter("s1", "eval", first->front().place, {.rows = 5, .bytes = 8u << 20});
  ASSERT_OK(next);
  ASSERT_EQ(next->size(), 1u) << "what arrived before the place is not repeated";
  EXPECT_EQ(ToJson(next->front().result), ToJson(SampleResult("s1", "m/three")));
  EXPECT_TRUE(store_->ResultsAfter("s1", "train", 0, kOneRow)->empty());
  EXPECT_EQ(store_->ResultsAfter("none", "", 0, kOneRow).error().code, ErrorCode::kNotFound);
}

TEST_P(StoreTest, APageEndsAtItsBytesButHasARow) {
  StoreThreeModels();
  EXPECT_EQ(store_->ResultsAfter("s1", "", 0, {.rows = 9, .bytes = 1})->size(), 1u);
  EXPECT_EQ(store_->ResultsAfter("s1", "", 0, {.rows = 9, .bytes = 8u << 20})->size(), 3u);
}

TEST_P(StoreTest, PlansArePagedWithTheCountsOfTheWhole) {
  StoreThreeModels();
  const auto first = store_->PlanAfter("s1", 0, 2);
  ASSERT_OK(first);
  ASSERT_EQ(first->plan.models.size(), 2u);
  EXPECT_EQ(first->plan.models[0].info.id, "a/a");
  const auto rest = store_->PlanAfter("s1", first->places.back(), 2);
  ASSERT_EQ(rest->plan.models.size(), 1u);
  EXPECT_EQ(rest->plan.models[0].info.id, "c/c");
  std::int64_t planned = 0;
  for (const auto& [action, count] : rest->actions) planned += count;
  EXPECT_EQ(planned, 3);
  EXPECT_EQ(store_->PlanAfter("none", 0, 2).error().code, ErrorCode::kNotFound);
}

TEST_P(StoreTest, TheHistoryOfAModelIsPagedFromTheNewest) {
  for (const char* id : {"s1", "s2"}) {
    Begin(id, {"a/a"});
    Append(SampleResult(id, "a/a"));
    Finish(id);
  }
  const auto newest = store_->HistoryBefore("a/a", 0, kOneRow);
  ASSERT_OK(newest);
  ASSERT_EQ(newest->size(), 1u);
  EXPECT_EQ(newest->front().result.sweep_id, "s2");
  const auto older = store_->HistoryBefore("a/a", newest->front().place, kOneRow);
  ASSERT_EQ(older->size(), 1u);
  EXPECT_EQ(older->front().result.sweep_id, "s1");
  EXPECT_TRUE(store_->HistoryBefore("a/a", older->front().place, kOneRow)->empty());
  EXPECT_TRUE(store_->HistoryBefore("no/one", 0, kOneRow)->empty());
}

TEST_P(StoreTest, ModelsArePagedByTheirIds) {
  StoreThreeModels();
  EXPECT_EQ(*store_->ModelsAfter("", "", 2), (std::vector<std::string>{"a/a", "b/b"}));
  EXPECT_EQ(*store_->ModelsAfter("b/b", "", 2), std::vector<std::string>{"c/c"});
  EXPECT_EQ(*store_->ModelsAfter("", "b", 2), std::vector<std::string>{"b/b"});
}

TEST_P(StoreTest, SitesAreFoundByTheirCaptures) {
  StoreThreeModels();
  const ModelResult result = SampleResult("s1", "a/a");
  const std::vector<std::string> captures{result.capture_id, "none"};
  const auto sites = store_->SitesOf(captures);
  ASSERT_OK(sites);
  ASSERT_EQ(sites->size(), 1u);
  const SitePlace& site = sites->at(result.capture_id).at(0);
  EXPECT_EQ(site.site_id, result.capture.sites[0].site_id);
  EXPECT_EQ(site.line, result.capture.sites[0].line);
  EXPECT_EQ(site.occurrences, result.capture.sites[0].occurrences);
}

TEST_P(StoreTest, DeadLettersArePagedByExporterAndEvent) {
  const std::vector<Event> events{SampleEvent("one"), SampleEvent("two")};
  ASSERT_OK(store_->AppendEvents(events));
  const auto stored = store_->EventsAfter(0, 9, 1u << 20);
  ASSERT_OK(stored);
  for (const char* exporter : {"file", "loki"})
    for (const StoredEvent& event : *stored) ASSERT_OK(store_->BuryEvent(exporter, event, "refused"));
  std::vector<std::pair<std::string, std::int64_t>> seen;
  std::string exporter;
  for (std::int64_t event = 0;;) {
    const auto page = store_->LettersAfter("", exporter, event, kOneRow);
    ASSERT_OK(page);
    if (page->empty()) break;
    seen.emplace_back(exporter = page->front().exporter, event = page->front().event.id);
  }
  EXPECT_EQ(seen,
            (std::vector<std::pair<std::string, std::int64_t>>{{"file", 1}, {"file", 2}, {"loki", 1}, {"loki", 2}}));
  EXPECT_EQ(store_->LettersAfter("loki", "loki", 1, kOneRow)->size(), 1u);
}

}  // namespace
}  // namespace breakwatch::store
