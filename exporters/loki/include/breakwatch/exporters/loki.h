// The Loki exporter: stored events, with unchanged bytes and times, by the push API.
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
  std::string service_name = "breakwatch", environment, pool;  // stream labels; an empty one is absent
  bool structured_metadata = true;  // sweep_id, model, commit beside the line; off for stores without schema v13
  bool gzip = true;
  std::string user, password, bearer_token;
  net::TlsOptions tls;
  std::chrono::milliseconds connect_timeout{5'000}, timeout{30'000};
  std::size_t max_push_bytes = 1u << 20;  // of a body before compression; a single event may be longer
};

// A batch longer than `max_push_bytes` goes in several pushes. Answers: 400, 413 and 422 are kRefused: the caller
// bisects, and Loki deduplicates what it kept of the batch. All other answers except 2xx are kTryAgain, and so is 260,
// with which Loki blocks a tenant: nothing is lost because of a
// wrong URL or password.
std::unique_ptr<EventExporter> MakeLoki(LokiOptions options, std::unique_ptr<net::HttpSender> sender);

}  // namespace breakwatch::exporters
