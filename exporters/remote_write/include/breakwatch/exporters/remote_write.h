// The remote write exporter: the series of a snapshot as samples of one time, by Prometheus remote write 1.0.
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

struct RemoteWriteOptions {
  std::string name = "remote_write";  // label of its delivery metrics
  std::string url;                    // with its path: "http://host:9090/api/v1/write"
  std::string tenant;                 // X-Scope-OrgID; empty: none
  net::Headers headers;               // further ones
  // Of every series, if not empty. A series that has a label of this name keeps its own.
  std::vector<std::pair<std::string, std::string>> labels;
  std::chrono::milliseconds interval{60'000};  // between two exports of one snapshot
  std::size_t batch_series = 2'000;            // of one request
  std::string user, password, bearer_token;
  net::TlsOptions tls;
  std::chrono::milliseconds connect_timeout{5'000}, timeout{30'000};  // of one request
};

// Sends one bounded request after the other. Series that were sent before and left get a staleness marker first, so
// that no query sees a model's old and new numbers together.
//
// All samples of an export have one time, and later exports have later times. After a failure the next export of the
// same snapshot continues with the same bytes, so a target at its rate limit gets everything in pieces; a newer
// snapshot starts from its first series.
//
// Answers: 2xx is accepted. A request that is refused with 400, 409 or 422 is not sent again; the rest of the snapshot
// is, and the outcome is kRefused. 413 halves the requests. All else is kTryAgain, slowly if somebody must change
// something.
//
// What was sent is kept in memory only: after a restart there are no markers for series of the process before. The
// target then forgets those after its lookback time, which is five minutes in Prometheus.
std::unique_ptr<MetricExporter> MakeRemoteWrite(RemoteWriteOptions options, std::unique_ptr<net::HttpSender> sender,
                                                const Clock& clock);

}  // namespace breakwatch::exporters
