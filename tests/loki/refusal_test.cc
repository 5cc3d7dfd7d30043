#include "refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace breakwatch::exporters {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kT = 1'763'690'000 * kSecond;  // 2025-11-21T01:53:20Z

std::vector<std::size_t> Places(const std::optional<Refusal>& refusal) {
  std::vector<std::size_t> places;
  if (!refusal) return {99};
  for (const RefusedEntry& entry : refusal->entries) places.push_back(entry.place);
  return places;
}

// Entries a second apart, 100 bytes long.
std::vector<SentEntry> Sent(std::size_t n) {
  std::vector<SentEntry> sent;
  for (std::size_t i = 0; i < n; ++i) sent.push_back({kT + static_cast<std::int64_t>(i) * kSecond + 5, 100, 2, 20});
  return sent;
}

TEST(RefusalTest, NamesALineThatIsTooLong) {
  auto sent = Sent(4);
  sent[2].line_size = 300'000;
  const auto refusal = ReadRefusal(
      "Max entry size '262144' bytes exceeded for stream '{pool=\"a\"}' while adding an entry with length '300000' "
      "bytes\n",
      sent);
  EXPECT_THAT(Places(refusal), ElementsAre(2));
  EXPECT_THAT(refusal->entries[0].detail, HasSubstr("Max entry size '262144' bytes exceeded"));
}

TEST(RefusalTest, NamesEntriesOfSeveralKinds) {
  auto sent = Sent(6);
  sent[0].line_size = 300'000;  // too old as well: Loki does not report its length
  sent[3].line_size = sent[4].line_size = 300'000;
  const auto refusal = ReadRefusal(
      "1 errors like: entry for stream '{}' has timestamp too old: 2025-11-21T01:53:20Z, oldest acceptable timestamp "
      "is: 2025-11-21T01:53:21Z; 2 errors like: Max entry size '262144' bytes exceeded for stream '{}' while adding an "
      "entry with length '300000' bytes; 1 errors like: entry for stream '{}' has timestamp too new: "
      "2025-11-21T01:53:25Z",
      sent);
  EXPECT_THAT(Places(refusal), ElementsAre(0, 3, 4, 5));
  EXPECT_EQ(refusal->oldest_ns, kT + kSecond);
}

TEST(RefusalTest, TakesTheOldestOfTheSecondOfTheLimit) {
  std::vector<SentEntry> sent = Sent(1);
  for (int i = 1; i < 4; ++i) sent.push_back({kT + 5 + i, 100, 0, 0});
  EXPECT_THAT(Places(ReadRefusal("2 errors like: entry for stream '{}' has timestamp too old: 2025-11-21T01:53:20Z, "
                                 "oldest acceptable timestamp is: 2025-11-21T01:53:20Z",
                                 sent)),
              ElementsAre(0, 1));
}

TEST(RefusalTest, ReadsTimesOfAServerInAnotherZone) {
  EXPECT_THAT(Places(ReadRefusal("entry for stream '{}' has timestamp too old: 2025-11-21T03:53:20+02:00, oldest "
                                 "acceptable timestamp is: 2025-11-20T20:53:21-05:00",
                                 Sent(3))),
              ElementsAre(0));
}

TEST(RefusalTest, NamesEntriesForTheirMetadata) {
  auto sent = Sent(3);
  sent[1].metadata_entries = 0;
  const auto refusal = ReadRefusal(
      "2 errors like: stream '{}' includes structured metadata, but this feature is disallowed. Please see "
      "`limits_config.allow_structured_metadata` or contact your Loki administrator to enable it.",
      sent);
  EXPECT_THAT(Places(refusal), ElementsAre(0, 2));
  EXPECT_TRUE(refusal->metadata_disallowed);
  const auto many = ReadRefusal(
      "2 errors like: stream '{}' has too many structured metadata labels: '2', limit: '1'. Please see "
      "`limits_config.max_structured_metadata_entries_count` or contact your Loki administrator to increase it.",
      sent);
  EXPECT_THAT(Places(many), ElementsAre(0, 2));
  EXPECT_FALSE(many->metadata_disallowed);
  EXPECT_EQ(many->entries[0].why, RefusedFor::kMetadata);
}

std::string TooFarBehind(int named, int total, int of) {
  std::string text;
  for (int i = 0; i < named; ++i) {
    const std::string time = "01:53:2" + std::to_string(i);
    text += "entry with timestamp 2025-11-21 " + time +
            ".000000005 +0000 UTC ignored, reason: 'entry too far behind, entry timestamp is: 2025-11-21T" + time +
            "Z, oldest acceptable timestamp is: 2025-11-21T02:53:20Z',\n";
  }
  return text + "user 'fake', total ignored: " + std::to_string(total) + " out of " + std::to_string(of) +
         " for stream: {service_name=\"breakwatch\"}";
}

TEST(RefusalTest, NamesEntriesFarBehindTheirStreamAlsoThoseAfterTheTenth) {
  const auto refusal = ReadRefusal(TooFarBehind(10, 12, 14), Sent(14));
  EXPECT_THAT(Places(refusal), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_EQ(refusal->stream_oldest_ns, kT + 3600 * kSecond);
}

TEST(RefusalTest, DoesNotGuessWhenAnAnswerHidesEntries) {
  EXPECT_FALSE(ReadRefusal(TooFarBehind(2, 2, 5), Sent(6))) << "one was refused before it reached the stream";
  EXPECT_FALSE(ReadRefusal(TooFarBehind(2, 7, 6), Sent(6))) << "more than were sent";
  EXPECT_FALSE(
      ReadRefusal("entry for stream '{}' has timestamp too old: 2025-11-21T01:53:21Z, oldest acceptable "
                  "timestamp is: 2025-11-21T01:53:22Z",
                  Sent(3)))
      << "an old Loki names the last one only; the first is even older";
  EXPECT_FALSE(
      ReadRefusal("3 errors like: Max entry size '50' bytes exceeded for stream '{}' while adding an entry "
                  "with length '100' bytes",
                  Sent(2)));
}

TEST(RefusalTest, DoesNotGuessFromOtherTexts) {
  for (const char* text :
       {"", "bad request", "error at least one label pair is required per stream",
        "entry for stream '{}' has 17 label names; limit 15", "x errors like: ",
        "entry for stream '{}' has timestamp too old: yesterday, oldest acceptable timestamp is: now",
        "total ignored: many out of 2 for stream: {}", "total ignored: 1 out of 2 for stream: {}",
        "1 errors like: Max entry size '50' bytes exceeded for stream '{}' while adding an entry with "
        "length '200' bytes"}) {
    EXPECT_FALSE(ReadRefusal(text, Sent(2))) << text;
  }
}

}  // namespace
}  // namespace breakwatch::exporters
