// The stand-in refuses and folds as Loki 3 does; its texts are Loki's.
#include "loki/loki_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace breakwatch::fakes {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHour = 3600 * kSecond;
constexpr std::int64_t kNow = 1'763'690'000 * kSecond;  // 2025-11-21T01:53:20Z
constexpr const char* kStream = R"({environment="prod", service_name="breakwatch"})";

class LokiStoreTest : public ::testing::Test {
 protected:
  LokiStoreTest() { limits.now_ns = kNow; }
  LokiStore& Store() {
    if (!store) store.emplace(limits);
    return *store;
  }
  LokiAnswer Push(std::vector<LokiEntry> entries,
                  Labels labels = {{"service_name", "breakwatch"}, {"environment", "prod"}}) {
    return Store().Push({{std::move(labels), std::move(entries)}});
  }
  static std::vector<LokiEntry> Lines(int n, std::size_t bytes, std::int64_t from = kNow) {
    std::vector<LokiEntry> entries;
    for (int i = 0; i < n; ++i) entries.push_back({from + i, std::string(bytes, 'x'), {}});
    return entries;
  }
  std::size_t Stored() { return Store().Query({}, 0, INT64_MAX, SIZE_MAX).size(); }

  LokiLimits limits;
  std::optional<LokiStore> store;
};

TEST_F(LokiStoreTest, FoldsAResendWithinABlock) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Push(Lines(126, 1000)).status, 204);
  EXPECT_EQ(Stored(), 126u);
}

TEST_F(LokiStoreTest, DoublesAResendThatIsLongerThanABlock) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Push(Lines(600, 1000)).status, 204);
  EXPECT_GT(Stored(), 600u);
}

TEST_F(LokiStoreTest, StoresTheGoodEntriesOfAPushThatItRefuses) {
  auto entries = Lines(10, 100);
  entries[4].line.resize(300 << 10);
  const LokiAnswer answer = Push(entries);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.text, std::string("Max entry size '262144' bytes exceeded for stream '") + kStream +
                             "' while adding an entry with length '307200' bytes");
  EXPECT_EQ(Stored(), 9u);
}

TEST_F(LokiStoreTest, CountsEqualErrorsAndJoinsOthers) {
  auto entries = Lines(3, 10, kNow - 8 * 24 * kHour);
  entries[2] = {kNow + kHour, "x", {}};
  EXPECT_EQ(Push(entries).text,
            std::string("1 errors like: entry for stream '") + kStream +
                "' has timestamp too new: 2025-11-21T02:53:20Z; 2 errors like: entry for stream '" + kStream +
                "' has timestamp too old: 2025-11-13T01:53:20Z, oldest acceptable timestamp is: 2025-11-14T01:53:20Z");
  EXPECT_EQ(Stored(), 0u);
}

TEST_F(LokiStoreTest, RefusesEntriesFarBehindTheirStreamAndNamesTheFirstTen) {
  ASSERT_EQ(Push({{kNow, "newest", {}}}).status, 204);
  auto entries = Lines(12, 10, kNow - 2 * kHour + kSecond / 2);
  entries.push_back({kNow - kHour, "just in time", {}});
  const LokiAnswer answer = Push(entries);
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.text,
              HasSubstr("entry with timestamp 2025-11-20 23:53:20.500000009 +0000 UTC ignored, reason: 'entry too far "
                        "behind, entry timestamp is: 2025-11-20T23:53:20Z, oldest acceptable timestamp is: "
                        "2025-11-21T00:53:20Z',\nuser 'fake', total ignored: 12 out of 13 for stream: " +
                        std::string(kStream)));
  EXPECT_EQ(Stored(), 2u);
  EXPECT_EQ(Push(Lines(1, 10, kNow - 2 * kHour), {{"service_name", "other"}}).status, 204) << "another stream";
}

TEST_F(LokiStoreTest, HidesRefusalsBehindThoseOfAgeWithinAStream) {
  ASSERT_EQ(Push({{kNow, "newest", {}}}).status, 204);
  auto entries = Lines(3, 10, kNow - 2 * kHour);
  entries[1].line.resize(300 << 10);
  EXPECT_THAT(Push(entries).text, HasSubstr("total ignored: 2 out of 2 for stream"));
}

TEST_F(LokiStoreTest, RefusesAWholePushOverTheRateAndForgetsItWithTime) {
  limits.burst_bytes = 1000;
  limits.rate_bytes = 100;
  EXPECT_EQ(Push(Lines(10, 90)).status, 204);
  const LokiAnswer answer = Push(Lines(2, 100, kNow + 100));
  EXPECT_EQ(answer.status, 429);
  EXPECT_THAT(answer.text, HasSubstr("Ingestion rate limit exceeded for user fake (limit: 100 bytes/sec) while "
                                     "attempting to ingest '2' lines totaling '200' bytes"));
  EXPECT_EQ(Stored(), 10u);
  Store().limits().now_ns += kSecond;
  EXPECT_EQ(Push(Lines(2, 100, kNow + 100)).status, 204);
  EXPECT_EQ(Push(Lines(1, 1001, kNow + 200)).status, 429) << "never passes: longer than the burst";
}

TEST_F(LokiStoreTest, RefusesAWholePushOverTheRateOfItsStream) {
  limits.stream_burst_bytes = 100;
  const LokiAnswer answer = Push(Lines(2, 60));
  EXPECT_EQ(answer.status, 429);
  EXPECT_THAT(answer.text, HasSubstr("total ignored: 2 out of 2"));
  EXPECT_EQ(Stored(), 0u);
}

TEST_F(LokiStoreTest, RefusesMetadataByItsLimits) {
  limits.max_metadata_entries = 2;
  limits.max_metadata_bytes = 10;
  EXPECT_THAT(Push({{kNow, "x", {{"a", "0123456789"}}}}).text,
              HasSubstr("has structured metadata too large: '11' bytes"));
  EXPECT_THAT(Push({{kNow, "x", {{"a", ""}, {"b", ""}, {"c", ""}}}}).text,
              HasSubstr("has too many structured metadata labels: '3', limit: '2'"));
  Store().limits().allow_metadata = false;
  EXPECT_THAT(Push({{kNow, "x", {{"a", ""}}}, {kNow, "y", {}}}).text,
              HasSubstr("includes structured metadata, but this feature is disallowed"));
  EXPECT_EQ(Stored(), 1u);
}

TEST_F(LokiStoreTest, AnswersABlockedTenantWith260) {
  limits.blocked = true;
  EXPECT_EQ(Push(Lines(1, 10)).status, 260);
  EXPECT_EQ(Stored(), 0u);
}

TEST_F(LokiStoreTest, RefusesTooManyAndTooLongLabels) {
  Labels many;
  for (int i = 0; i < 16; ++i) many["label" + std::to_string(i)] = "x";
  EXPECT_THAT(Push(Lines(1, 10), many).text, HasSubstr("has 16 label names; limit 15"));
  EXPECT_THAT(Push(Lines(1, 10), {{"pool", std::string(2049, 'x')}}).text, HasSubstr("label value too long"));
}

}  // namespace
}  // namespace breakwatch::fakes
