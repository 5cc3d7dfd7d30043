// Server: HTTP over the latest snapshot and the store. Writes nothing: a request that changes something becomes
// a command on the loop's queue and is answered 202 with its id. README.md describes each path.
//
// GET  /metrics          the daemon itself      GET /metrics/models    every series of the snapshot, none of /metrics
// GET  /-/healthy        alive                  GET /-/ready           503 until the state is loaded,
//                                                               and once its directory is gone
// POST /-/reload         (lifecycle, token)     POST /api/v1/sweeps    ask for a sweep (token)
// GET  /api/v1/sweeps[/ID[/results]]   /api/v1/requests[/ID]   /api/v1/models[/ORG/NAME]   /api/v1/reasons
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "breakwatch/api/queries.h"
#include "breakwatch/api/request_log.h"
#include "breakwatch/core/clock.h"
#include "breakwatch/core/command.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/snapshot.h"

namespace breakwatch::api {

struct ServerOptions {
  std::string listen_address = "127.0.0.1:9723";  // HOST:PORT, [V6]:PORT; port 0: any free one
  std::string token;                              // of requests that change something; empty: they are refused
  int max_requests = 64;                          // in flight; further connections are closed
  bool enable_lifecycle = false;
  std::string version;
};

// The outcome of the newest reload of the configuration.
struct ReloadState {
  bool successful = true;
  SystemTime at{};
};

// What the server reads; all outlive it, all may be called from any thread.
struct ServerParts {
  CommandQueue& commands;
  Queries& queries;
  const Clock& clock;
  std::function<SnapshotPtr()> snapshot;                 // the newest; null before the first
  std::function<std::vector<DeliveryStats>()> delivery;  // as it is now
  std::function<WorkersOfAll()> workers;                 // at the newest snapshot
  std::function<ReloadState()> reload_state;
  std::function<SweepRequest()> default_request;  // of a POST without a body
  RequestLog& requests;                           // receives the sweeps as a ProgressListener
  std::vector<std::string> toolchains;            // that a request may name
  std::function<Result<void>()> held{};           // error: why the daemon is not ready; may be empty
};

// Owns its threads; stops and joins them in its destructor.
class Server {
 public:
  // Binds and serves. Error: kUnavailable, naming the address (in use, not allowed, not an address).
  static Result<std::unique_ptr<Server>> Start(const ServerOptions& options, const ServerParts& parts);
  virtual ~Server() = default;
  virtual std::string Address() const = 0;  // "127.0.0.1:9723" with the port that was bound
};

}  // namespace breakwatch::api
