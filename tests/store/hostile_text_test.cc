#include <cmath>
#include <limits>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

using namespace std::string_literals;

// Texts that break a store that builds SQL or JSON without escaping, or that relies on its libraries for invalid bytes.
const std::string kHostile = "'; DROP TABLE results; -- \" \\ :name ::cast $1 ?1 %s \n\t\x01 \xff\xfe \xed\xa0\x80 "s +
                             '\0' + "\u2028 \U0001F600 end";

TEST_P(StoreTest, KeepsHostileTextAsRepairedText) {
  ModelResult result = SampleResult("s1", "a/b");
  result.info.id = kHostile;
  result.capture_id = "capture " + kHostile;
  result.structure = "structure " + kHostile;
  result.info.sha = kHostile;
  result.capture.detail = kHostile;
  result.capture.error = kHostile;
  result.capture.sites[0].reason = kHostile;
  result.capture.sites[0].file = kHostile;
  result.capture.sites[0].function = kHostile;
  Plan plan = SamplePlan("s1", {});
  plan.models = {SamplePlanned(kHostile)};
  plan.models[0].config_json = R"({"text":"a \u0000 b \ud83d\ude00"})";
  Event event = SampleEvent("model_captured", kHostile);
  event.fields_json = R"({"text":"a \u0000 b"})";
  const std::vector<Event> events{event};
  CurrentChange change;
  change.upserts = {SampleTracked(kHostile)};
  change.meta = {{kHostile, kHostile}};
  ASSERT_OK(store_->BeginSweep(SampleSweep("s1"), plan, {}, {}, {}));
  ASSERT_OK(AppendOne(*store_, result, events, change));

  const std::string repaired = ToUtf8(kHostile);
  EXPECT_EQ(*store_->Models(), std::vector<std::string>{repaired});
  EXPECT_EQ(store_->NewestResults({.model = kHostile})->at(0).capture.error, repaired);
  EXPECT_EQ(store_->LoadCapture("capture " + kHostile)->sites.at(0).reason, Truncate(repaired, 120));
  EXPECT_EQ(store_->LoadPlan("s1")->models.at(0).info.id, repaired);
  EXPECT_EQ(store_->LoadCurrent()->meta.at(repaired), repaired);
  EXPECT_EQ(store_->LoadCurrent()->models.at(0).model, repaired);
  EXPECT_EQ(store_->LatestRevisions(std::vector<std::string>{kHostile})->at(repaired).commit, repaired);
  EXPECT_TRUE(store_->Histories(std::vector<std::string>{"structure " + kHostile}, "eval")
                  ->at("structure " + repaired)
                  .reusable_capture_id);
  const StoredEvent stored = store_->EventsAfter(0, 1, 1)->at(0);
  EXPECT_EQ(stored.model, repaired);
  EXPECT_EQ(stored.line, ComposeLine(event, 1, stored.ts_ns));
  ASSERT_OK(store_->BuryEvent(kHostile, stored, kHostile));
  EXPECT_EQ(store_->DeadLetters({.exporter = kHostile}, 1)->at(0).reason, repaired);
  EXPECT_OK(store_->Check());
}

TEST_P(StoreTest, KeepsAMegabyteOfText) {
  Begin("s1", {"a/b"});
  ModelResult result = SampleResult("s1", "a/b");
  result.rebuild_reason = std::string(1 << 20, 'x') + "end";
  Append(result);
  EXPECT_EQ(store_->NewestResults({.model = "a/b"})->at(0).rebuild_reason, result.rebuild_reason);
}

TEST_P(StoreTest, NeverStoresANumberThatIsNone) {
  Begin("s1", {"a/b"});
  ModelResult result = SampleResult("s1", "a/b");
  result.capture.capture_s = std::nan("");
  result.capture.wall_s = std::numeric_limits<double>::infinity();
  result.capture.phase_s["eager"] = std::nan("");
  Append(result);
  const auto loaded = store_->Results("s1");
  ASSERT_OK(loaded);
  const CaptureResult& capture = loaded->at(0).capture;
  EXPECT_EQ(capture.capture_s, 0);
  EXPECT_EQ(capture.wall_s, 0);
  for (const auto& [phase, seconds] : capture.phase_s) EXPECT_TRUE(std::isfinite(seconds)) << phase;
}

TEST_P(StoreTest, KeepsTheWholeRangeOfNumbers) {
  Begin("s1", {"a/b"});
  ModelResult result = SampleResult("s1", "a/b");
  result.info.downloads = std::numeric_limits<std::int64_t>::max();
  result.capture.sites[0].occurrences = std::numeric_limits<std::int64_t>::max();
  Append(result);
  const auto loaded = store_->Results("s1");
  ASSERT_OK(loaded);
  EXPECT_EQ(loaded->at(0).info.downloads, result.info.downloads);
  EXPECT_EQ(loaded->at(0).capture.sites[0].occurrences, result.capture.sites[0].occurrences);
}

}  // namespace
}  // namespace breakwatch::store
