// LokiStore: what a Loki does with entries: its limits, the texts of its refusals, its blocks, and what a query
// returns.
//
// Follows Loki's distributor (limits of each entry, the tenant's rate) and ingester (age within a stream, the stream's
// rate, blocks). Of a push that is answered with 400, the other entries are stored. An entry is folded if its current
// block has one with the same time and line; metadata does not count. A block is cut when it reaches its size, so an
// entry that is sent again after that is stored twice.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace breakwatch::fakes {

using Labels = std::map<std::string, std::string>;

struct LokiEntry {
  std::int64_t ts_ns = 0;
  std::string line;
  Labels metadata;
  bool operator==(const LokiEntry&) const = default;
};

struct LokiStreamPush {
  Labels labels;
  std::vector<LokiEntry> entries;
};

// The defaults of Loki's limits_config and ingester. Durations in nanoseconds, sizes in bytes.
struct LokiLimits {
  std::int64_t now_ns = 0;                  // the server's clock; 0: the real one
  std::function<std::int64_t()> clock{};    // if set, instead of now_ns
  std::size_t max_body_bytes = 100u << 20;  // after decompression
  std::size_t max_line_bytes = 256u << 10;
  bool allow_metadata = true;
  std::size_t max_metadata_bytes = 64u << 10, max_metadata_entries = 128;
  std::size_t max_label_names = 15, max_label_name_bytes = 1024, max_label_value_bytes = 2048;
  std::int64_t reject_older_than_ns = 7LL * 24 * 3600 * 1'000'000'000;
  std::int64_t grace_ns = 600LL * 1'000'000'000;           // into the future
  std::int64_t max_chunk_age_ns = 7200LL * 1'000'000'000;  // half of it behind the newest entry of a stream
  std::size_t block_bytes = 256u << 10;
  std::size_t max_named_errors = 10;                         // of the ingester
  double rate_bytes = 4 << 20, stream_rate_bytes = 3 << 20;  // a second
  std::size_t burst_bytes = 6u << 20, stream_burst_bytes = 15u << 20;
  std::string tenant;         // required in X-Scope-OrgID; empty: any
  bool blocked = false;       // answers 260
  bool away = false;          // not Loki's: closes each connection
  bool hides_errors = false;  // not Loki's: names no refused entry
  bool may_query = true;      // false: answers queries with 403
  std::string poison;         // not Loki's: lines with this text are refused by an answer that does not name them
};

struct LokiAnswer {
  int status = 204;
  std::string text{};
};

// Thread: its owner's.
class LokiStore {
 public:
  explicit LokiStore(LokiLimits limits);

  LokiAnswer Push(const std::vector<LokiStreamPush>& push);
  // Entries of streams that have all of `labels`, from `start_ns` to before `end_ns`, oldest first, at most `limit`.
  std::vector<std::pair<Labels, LokiEntry>> Query(const Labels& labels, std::int64_t start_ns, std::int64_t end_ns,
                                                  std::size_t limit) const;
  // By stream, in order of arrival.
  std::map<Labels, std::vector<LokiEntry>> Streams() const;
  void CutBlocks();  // as the flush of a chunk does
  void Refill();     // the bursts
  LokiLimits& limits() { return limits_; }

 private:
  // A token bucket, as of golang.org/x/time/rate.
  struct Bucket {
    double tokens = 0;
    std::int64_t at_ns = 0;
    bool Take(std::size_t bytes, double rate, std::size_t burst, std::int64_t now_ns);
  };
  struct Stream {
    std::vector<LokiEntry> entries;
    std::multimap<std::int64_t, std::string> block;  // times and lines of the current block
    std::size_t block_bytes = 0;
    std::int64_t newest_ns = 0;
    LokiEntry last;
    Bucket rate;
  };

  std::int64_t Now() const;
  std::optional<std::string> LabelError(const Labels& labels) const;
  std::optional<std::string> EntryError(const std::string& stream, const LokiEntry& entry) const;
  std::string User() const { return limits_.tenant.empty() ? "fake" : limits_.tenant; }
  LokiAnswer Ingest(const Labels& labels, const std::vector<LokiEntry>& entries);
  void Append(Stream& stream, const LokiEntry& entry);

  LokiLimits limits_;
  Bucket rate_;
  std::map<Labels, Stream> streams_;
};

}  // namespace breakwatch::fakes
