// Lobby: where connections wait for their next request. One thread reads them all, so a client that sends slowly, or
// nothing, holds no worker.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "connection.h"

struct pollfd;

namespace breakwatch::api {

struct LobbyOptions {
  std::size_t max_connections = 1024;         // further ones are closed
  std::chrono::milliseconds patience{5'000};  // for a whole request, from its first byte; also for that byte
  std::chrono::milliseconds idle{15'000};     // between two requests of a connection
};

// Owns its thread and the connections that wait.
class Lobby {
 public:
  // Takes a connection whose request has arrived, or as much of it as must be seen to refuse it. Must not block.
  // `operations`: the request is for a path below "/-/", which must work when everything else is busy.
  using Ready = std::function<void(std::unique_ptr<Connection> connection, bool operations)>;

  Lobby(LobbyOptions options, Ready ready);
  ~Lobby();

  // Thread: any. `bytes`: what was read already. `is_new`: no request came from it yet.
  void Add(int fd, std::string bytes, bool is_new);

  static constexpr std::size_t kMaxHeadBytes = 32 * 1024;

 private:
  struct Guest {
    int fd = -1;
    std::string bytes;
    std::chrono::steady_clock::time_point until{};
    bool began = false;  // its request has a first byte
  };
  using Guests = std::list<Guest>;

  void Run(const std::stop_token& stop);
  void Admit();
  std::chrono::milliseconds NextEnd() const;
  // False: the guest left, or was handed on.
  bool Read(Guest& guest);
  bool HandOn(Guest& guest);
  void Refuse(const Guest& guest, int status, const std::string& message) const;

  const LobbyOptions options_;
  const Ready ready_;
  const int wake_;
  std::mutex mutex_;
  Guests arriving_;        // guarded by the mutex
  std::size_t count_ = 0;  // of both lists, guarded by the mutex
  Guests guests_;          // of the thread
  std::jthread thread_;    // last: it uses all members above
};

}  // namespace breakwatch::api
