// The Loki exporter: stored events, with unchanged bytes and times, by the push API.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

// What happens to events that are older than Loki accepts.
enum class TooOld {
  kDeadLetter,  // refused, without asking Loki about each
  kDrop,        // not sent
  kRestamp,     // sent with a time that Loki accepts; the line keeps the time of the event
};

// Whether sweep_id, model and commit are sent beside the line. kAuto: until Loki refuses it.
enum class StructuredMetadata { kAuto, kOn, kOff };

struct LokiOptions {
  std::string name = "loki";
  std::string url;                                             // "http://host:3100", without /loki/api/v1/push
  std::string tenant;                                          // X-Scope-OrgID; empty: none
  std::string service_name = "breakwatch", environment, pool;  // stream labels; an empty one is absent
  StructuredMetadata structured_metadata = StructuredMetadata::kAuto;
  std::optional<std::chrono::milliseconds> max_age;  // absent: what Loki's answers say
  TooOld too_old = TooOld::kDeadLetter;
  bool gzip = true;
  std::string user, password, bearer_token;
  net::TlsOptions tls;
  std::chrono::milliseconds connect_timeout{5'000}, timeout{30'000};
};

// One push for each batch. Loki stores the good entries of a push that it answers with 400, and its answer tells which
// ones it refused: the outcome is kDelivered with these. If the answer does not tell, it is kRefused: the caller
// bisects. All other answers except 2xx are kTryAgain, and so is 260, with which Loki blocks a tenant: nothing is lost
// because of a wrong URL or password.
//
// After a lost answer Loki may have the batch. It ignores an entry that it gets again only while the first copy is in
// the current block of its stream (256 KiB of lines). So the exporter queries what Loki has and sends the rest. Where
// it may not query, it sends everything again, and batches must be much smaller than a block.
std::unique_ptr<EventExporter> MakeLoki(LokiOptions options, std::unique_ptr<net::HttpSender> sender,
                                        const Clock& clock);

}  // namespace breakwatch::exporters
