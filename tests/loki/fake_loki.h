// FakeLoki: the push endpoint of a Loki with its default limits, on a loopback port.
//
// Like a real one, it stores the good entries of a push that it answers with 400, and none with 413, 429, 5xx and 260.
// Of entries with equal time, line and metadata in one stream, it stores one.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "net/scripted_server.h"

namespace breakwatch::fakes {

struct LokiEntry {
  std::int64_t ts_ns = 0;
  std::string line;
  std::map<std::string, std::string> metadata;
  bool operator==(const LokiEntry&) const = default;
};

struct LokiLimits {
  std::size_t max_body_bytes = 100u << 20;  // after decompression
  std::size_t max_line_bytes = 256u << 10;
  std::size_t max_metadata_bytes = 64u << 10, max_metadata_entries = 128;
  std::size_t max_label_names = 15, max_label_name_bytes = 1024, max_label_value_bytes = 2048;
  std::int64_t now_ns = 0;  // the server's clock
  std::int64_t reject_older_than_ns = 7LL * 24 * 3600 * 1'000'000'000;
  std::int64_t grace_ns = 600LL * 1'000'000'000;            // into the future
  std::int64_t too_far_behind_ns = 3600LL * 1'000'000'000;  // the stream's newest entry
  std::size_t burst_bytes = 6u << 20;                       // of lines; only Refill refills it
  std::string tenant;                                       // required in X-Scope-OrgID; empty: any
  bool blocked = false;                                     // answers 260
};

// Thread: any; `limits` is set before the first push, or through With.
class FakeLoki {
 public:
  explicit FakeLoki(LokiLimits limits);

  std::string Url() const { return server_.Url(); }
  std::vector<testing::SeenRequest> Requests() const { return server_.Requests(); }
  // Entries of one stream in order of arrival; its key is the labels as JSON.
  std::map<std::string, std::vector<LokiEntry>> Streams() const;
  std::vector<LokiEntry> Entries() const;  // of all streams
  void Refill();
  void Unblock();
  void AnswerNext(testing::Reply reply);  // does not read the next push

 private:
  testing::Reply Push(const testing::SeenRequest& request);
  std::optional<std::string> Complaint(const std::string& stream, const LokiEntry& entry) const;
  void Store(const std::string& stream, const LokiEntry& entry);

  mutable std::mutex mutex_;
  LokiLimits limits_;
  std::size_t burst_left_;
  std::vector<testing::Reply> answers_;
  std::map<std::string, std::vector<LokiEntry>> streams_;
  testing::ScriptedServer server_;  // last: it calls Push until it is destroyed
};

}  // namespace breakwatch::fakes
