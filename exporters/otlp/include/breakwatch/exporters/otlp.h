// The OTLP/HTTP exporters: metrics and stored events as logs, to any receiver of the OpenTelemetry protocol.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

enum class OtlpEncoding { kProtobuf, kJson };

struct OtlpOptions {
  std::string name;  // label of its delivery metrics
  std::string url;   // of the signal: "http://host:4318/v1/metrics"
  OtlpEncoding encoding = OtlpEncoding::kProtobuf;
  std::vector<std::pair<std::string, std::string>> resource;  // attributes; each name once
  std::string scope_version;                                  // of this program
  net::Headers headers;
  bool gzip = true;
  std::string user, password;  // basic auth
  net::TlsOptions tls;
  std::chrono::milliseconds connect_timeout{5'000}, timeout{30'000};  // of one request
  // Metrics only.
  std::size_t max_request_bytes = 4u << 20;        // before compression
  std::chrono::milliseconds repeat_every{60'000};  // receivers forget a series that is not sent again
};

// Every series of the snapshot with the time of the export, in requests of at most `max_request_bytes`. Gauges as
// Gauge; compile_breaks_total, a state, as a cumulative Sum that is not monotonic; other counters as monotonic ones
// that began when the exporter was made. After an answer 413 the requests are half as large.
std::unique_ptr<MetricExporter> MakeOtlpMetrics(OtlpOptions options, std::unique_ptr<net::HttpSender> sender,
                                                const Clock& clock);

// One log record for each event: its time, its level, its line as the body; sweep_id, model, commit and event_id as
// attributes. A receiver stores what it gets twice: after a lost answer the batch is sent again.
//
// Answers of both: 429, 502, 503, 504, no answer, and what a wrong setting causes (401, 403, 404, HTML) are kTryAgain;
// 400 and other 5xx are kRefused. If a receiver rejects some records of a batch, OTLP does not say which, and they must
// not be sent again: `notice` has their number. If it rejects all, they are refused events.
std::unique_ptr<EventExporter> MakeOtlpLogs(OtlpOptions options, std::unique_ptr<net::HttpSender> sender,
                                            const Clock& clock);

}  // namespace breakwatch::exporters
