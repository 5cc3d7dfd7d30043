// The Pushgateway exporter: the whole snapshot by PUT, one group (or N shards) per daemon, recorded.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "breakwatch/core/exporters.h"
#include "breakwatch/core/result.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

struct PushgatewayOptions {
  std::string name = "pushgateway";  // label of its delivery metrics
  std::string url;                   // "http://host:9091", with the gateway's own prefix, if any
  std::string job = "breakwatch";    // never empty: the gateway refuses that
  std::string pool;                  // empty: no pool in the group
  int shards = 1;                    // groups over which the models are split
  bool gzip = true;
  std::string user, password;  // basic auth
  net::TlsOptions tls;
  // `timeout`: of a short request. A PUT gets a second more for each 2 MiB of its text.
  std::chrono::milliseconds connect_timeout{5'000}, timeout{30'000};
};

// The groups that this daemon pushed to a gateway, stored: a forgotten group stays on the gateway for ever, and
// its series conflict with every later push. Thread: the exporter's.
class GroupJournal {
 public:
  virtual ~GroupJournal() = default;
  virtual Result<std::vector<std::string>> Load() = 0;
  virtual Result<void> Save(const std::vector<std::string>& groups) = 0;
};

// In memory only: for tests, and without a store.
std::unique_ptr<GroupJournal> MakeMemoryGroupJournal();

// The paths of the groups, in the order of their shards: "/metrics/job/breakwatch/pool@base64/ZXUvMQ/shard/0".
std::vector<std::string> GroupPaths(const PushgatewayOptions& options);

// Recorded groups outside the layout are deleted before the first PUT. Answers: 400 and 413 are kRefused, all
// else that is not 200 or 202 is kTryAgain, slowly if somebody must change something.
std::unique_ptr<MetricExporter> MakePushgateway(PushgatewayOptions options, std::unique_ptr<GroupJournal> journal,
                                                std::unique_ptr<net::HttpSender> sender);

}  // namespace breakwatch::exporters
