// One push as Loki sees it: entries of one stream, and the requests to push and to query them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/core/event.h"
#include "breakwatch/exporters/loki.h"
#include "breakwatch/net/http.h"
#include "refusal.h"

namespace breakwatch::exporters {

struct PushEntry {
  std::size_t place = 0;  // in the batch
  std::int64_t ts_ns = 0;
  const StoredEvent* event = nullptr;
};

// Thread: its owner's.
class LokiClient {
 public:
  LokiClient(const LokiOptions& options, std::unique_ptr<net::HttpSender> sender);

  Result<net::HttpResponse> Push(std::span<const PushEntry> entries, bool with_metadata);
  // For each entry whether Loki has it. nullopt: it cannot be told.
  std::optional<std::vector<bool>> Has(std::span<const PushEntry> entries);

 private:
  net::HttpRequest Request(const std::string& path) const;

  const LokiOptions& options_;
  std::unique_ptr<net::HttpSender> sender_;
  std::string head_;      // the start of every body, up to the values
  std::string selector_;  // of the stream, percent-encoded
  bool may_query_ = true;
};

// What Loki's limits are about.
SentEntry Sent(const PushEntry& entry, bool with_metadata);

}  // namespace breakwatch::exporters
