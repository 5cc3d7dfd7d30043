// Record: fetches a listing and the config.json files it names into a recording directory (FORMAT.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/model_lister.h"
#include "breakwatch/core/result.h"
#include "breakwatch/net/http.h"

namespace breakwatch::hub_replay {

struct RecordOptions {
  std::string endpoint = "https://huggingface.co";
  std::string token;  // sent to the endpoint's host only, never written
  net::TlsOptions tls;
  // What to list, as query parameters of /api/models without sort, limit and expand: {"filter", "transformers"}.
  std::vector<std::pair<std::string, std::string>> query;
  std::string sort = "downloads";
  std::size_t top = 100;                          // models
  std::vector<std::string> ids;                   // these (or id@revision) instead of a listing
  std::vector<std::string> files{"config.json"};  // fetched at each model's commit
  bool pipelines = true;  // of diffusers repositories also model_index.json and each component's config.json
  std::string note;       // kept in recording.json
  std::size_t max_file_bytes = 8u << 20;         // of one file; a larger one is skipped
  int attempts = 5;                              // per request, for 408, 429, 5xx and lost connections
  std::chrono::milliseconds first_pause{1'000};  // before the second attempt, doubled each time up to 8 s
};

struct RecordSummary {
  std::size_t models = 0, files = 0;
  std::vector<std::string> left_out;  // "org/name: config.json: 401 ...", one line each
};

// `query`, `sort`, `top` and `ids` of the options for a list request. A request by family becomes one overall.
RecordOptions RecordOptionsOf(const ListRequest& request);

using RecordProgress = std::function<void(std::size_t done, std::size_t total)>;

// Writes `dir`, which must not exist: a temporary folder beside it, renamed when it is complete.
// Thread: the caller's, which runs `pool`. Error: kUsage when `dir` exists, kUnavailable if the list (or an id's
// model) cannot be fetched after all attempts, kStore if it cannot be written, kInterrupted.
Result<RecordSummary> Record(const RecordOptions& options, net::HttpPool& pool, const std::string& dir,
                             std::stop_token stop = {}, const RecordProgress& progress = {},
                             const Clock& clock = RealClock());

}  // namespace breakwatch::hub_replay
