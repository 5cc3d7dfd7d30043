// GuardedServer: cpp-httplib's server with additional limits.
//
// The packaged version buffers headers of any length, and a chunked body can exceed its payload limit. A connection can
// also keep a thread without a time limit. This class reads every connection through a stream that counts bytes. A
// request that is too long or too slow ends its connection. So does one beyond the number allowed.
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
  std::atomic<std::size_t> waiting_{0};  // waiting connections; if not 0, served ones close after their answer
};

}  // namespace breakwatch::hub_replay
