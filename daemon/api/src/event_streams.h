// EventStreams: the clients of server-sent events. One thread writes to all of them, so a stream holds no worker.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "breakwatch/api/event_feed.h"
#include "breakwatch/api/server.h"

namespace breakwatch::api {

// Owns its thread and its sockets.
class EventStreams {
 public:
  EventStreams(EventFeed& feed, StreamBounds bounds);
  ~EventStreams();
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;

  // Takes one of the streams, or fails. What was taken is given back by Add's stream when it ends, or by GiveBack.
  [[nodiscard]] bool Take();
  void GiveBack() { --taken_; }
  // A socket whose response head is sent. `last_id`: of the last event that the client has; empty: none.
  void Add(int fd, const std::string& last_id);

 private:
  struct Stream {
    int fd = -1;
    std::int64_t last = 0;  // number of the last event in `pending`
    std::string pending{};
    std::chrono::steady_clock::time_point next_heartbeat{};
  };

  void Run(const std::stop_token& stop);
  void Greet(Stream& stream, const std::string& last_id);
  void Fill(Stream& stream);
  // False: the client left, or does not read.
  bool Write(Stream& stream) const;
  bool Read(const Stream& stream) const;
  std::chrono::milliseconds NextHeartbeat() const;
  void Wake() const;

  EventFeed& feed_;
  const StreamBounds bounds_;
  const int wake_;
  std::atomic<int> taken_{0};
  std::mutex mutex_;
  std::list<Stream> arriving_;  // guarded by the mutex
  std::list<Stream> streams_;   // of the thread
  std::jthread thread_;         // last: it uses all of the above
};

}  // namespace breakwatch::api
