// Server: HTTP over the latest snapshot and the store, as ../../openapi.json describes it. Writes nothing: a request
// that changes something becomes a command on the loop's queue and is answered 202 with its id.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "breakwatch/api/event_feed.h"
#include "breakwatch/api/queries.h"
#include "breakwatch/api/request_log.h"
#include "breakwatch/core/clock.h"
#include "breakwatch/core/command.h"
#include "breakwatch/core/filter_subject.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/snapshot.h"

namespace breakwatch::api {

struct StreamBounds {
  int streams = 16;                             // of events; further ones are refused
  std::size_t pending = 1u << 20;               // bytes that a client has not read; more drops it
  std::chrono::milliseconds heartbeat{15'000};  // a comment keeps proxies from closing a quiet stream
};

struct ServerOptions {
  std::string listen_address = "127.0.0.1:9723";  // HOST:PORT, [V6]:PORT; port 0: any free one
  std::string token;                              // of requests that change something; empty: they are refused
  int max_requests = 64;                          // in flight; four times as many wait, further ones are refused
  bool enable_lifecycle = false;
  std::string version;
  StreamBounds streams{};
  std::vector<std::string> allowed_hosts{};  // names with a dot by which requests may call this server
  bool read_only = false;                    // nothing runs the commands: requests that change something are refused
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
  EventFeed& feed;                                // so does it
  std::vector<std::string> toolchains;            // that a request may name
  ModelOwners owners{};                           // for filters
  std::function<std::string()> settings{};        // the document of `config show --json`
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
