// GuardedServer: cpp-httplib's server with the bounds it lacks.
//
// The packaged version buffers a header of any length, lets a chunked body pass the payload bound, and gives every
// connection a thread for as long as it likes. Here every connection is read through a stream that counts: a request
// that is too long, too slow or one too many ends its connection.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

namespace breakwatch::hub_replay {

struct Guards {
  std::size_t threads = 16, queued = 64;
  std::size_t max_header_bytes = 32u << 10, max_body_bytes = 256u << 10;
  std::chrono::milliseconds request_timeout{10'000}, write_timeout{10'000}, idle_timeout{5'000};
};

class GuardedServer : public httplib::Server {
 public:
  explicit GuardedServer(const Guards& guards);

 private:
  bool process_and_close_socket(socket_t socket) override;

  const Guards guards_;
  std::atomic<std::size_t> waiting_{0};  // connections in the queue: those served then close after their answer
};

}  // namespace breakwatch::hub_replay
