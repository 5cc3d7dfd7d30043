// Front: the sockets of the HTTP server. The library parses requests and writes responses; connections wait in the
// lobby and not in a thread, so neither slow clients nor streams hold workers, and nothing blocks the acceptor.
#pragma once

#include <httplib.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "breakwatch/core/result.h"
#include "connection.h"
#include "event_streams.h"
#include "lobby.h"
#include "workers.h"

namespace breakwatch::api {

// Owns its threads and connections; ends them in its destructor, within seconds. Answers that are being made then are
// sent if they are ready within kLastAnswers.
class Front final : public httplib::Server {
 public:
  Front(std::size_t max_requests, EventFeed& feed, StreamBounds streams);
  ~Front() override;

  // Binds and accepts; the handlers are set before. Returns the bound address. Error: kUnavailable, naming it.
  Result<std::string> Start(const std::string& listen_address);

  // Called by a handler on its thread: when its response is sent, the connection becomes a stream of events. False:
  // there are too many. `last_id`: of the last event that the client has; empty: none.
  [[nodiscard]] bool MakeStream(std::string last_id);

  // Called by a handler on its thread: the connection ends with this response.
  static void EndConnection();

 private:
  static constexpr std::size_t kOperationThreads = 2, kWaitingPerWorker = 4;
  static constexpr std::chrono::seconds kLastAnswers{1};

  void Accept(const std::stop_token& stop);
  void HandOut(std::unique_ptr<Connection> connection, bool operations);
  void Serve(Connection& connection);

  const int wake_;
  std::string address_;
  EventStreams streams_;
  std::mutex mutex_;
  std::set<const Connection*> busy_;  // in workers; guarded by the mutex
  std::condition_variable answered_;  // while stopping: one of them is no longer busy
  bool stopping_ = false;             // guarded by the mutex
  // In this order: each uses what is above it.
  std::optional<Workers> workers_, operations_;  // the second one for paths below "/-/"
  std::optional<Lobby> lobby_;
  std::jthread acceptor_;
};

}  // namespace breakwatch::api
