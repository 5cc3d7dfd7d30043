// The Loki exporter: stored events, their bytes and times untouched, by the push API.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

struct LokiOptions {
  std::string name = "loki";
  std::string url;                                             // "http://host:3100", without /loki/api/v1/push
  std::string tenant;                                          // X-Scope-OrgID; empty: none
  std::string service_name = "breakwatch", environment, pool;  // stream labels; an empty one is left out
  bool structured_metadata = true;  // sweep_id, model, commit beside the line; off for stores without schema v13
  bool gzip = true;
  std::string user, password, bearer_token;
  net::TlsOptions tls;
  std::chrono::milliseconds connect_timeout{5'000}, timeout{30'000};
  std::size_t max_push_bytes = 1u << 20;  // of a body before compression; a single event may be longer
};

// A batch longer than `max_push_bytes` goes in several pushes. Answers: 400, 413 and 422 are kRefused: the caller
// bisects, and what Loki kept of the batch it folds with its repetition; an answer about single entries says so. All
// else that is not a 2xx, and 260, which is how Loki says that it blocks a tenant, is kTryAgain: nothing is lost to a
// wrong URL or password.
std::unique_ptr<EventExporter> MakeLoki(LokiOptions options, std::unique_ptr<net::HttpSender> sender);

}  // namespace breakwatch::exporters
