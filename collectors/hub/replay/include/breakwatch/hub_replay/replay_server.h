// ReplayServer: a Hub on loopback that answers from a recording (FORMAT.md) like the real one.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/result.h"

namespace breakwatch::hub_replay {

struct ReplayOptions {
  std::string dir;                 // the recording
  std::string host = "127.0.0.1";  // where to listen
  int port = 0;                    // 0: any free one
  // Whom `Link: rel="next"` names. The Hub always names itself, behind mirrors too, so this is the default;
  // "self" names the requested host, for clients that follow the link unchanged.
  std::string link_endpoint = "https://huggingface.co";

  std::size_t threads = 16;                           // connections served at once
  std::size_t queued_connections = 64;                // waiting beyond that; more get 503
  std::size_t max_header_bytes = 32u << 10;           // of one request
  std::size_t max_body_bytes = 256u << 10;            // of one request, chunked or not
  std::chrono::milliseconds request_timeout{10'000};  // to read one request whole
  std::chrono::milliseconds write_timeout{10'000};    // for a client to take the next bytes
  std::chrono::milliseconds idle_timeout{5'000};      // between the requests of a connection
};

// Owner: whoever starts it. Thread: Start, Stop and the destructor on one; it owns its threads and joins them in
// Stop, which the destructor calls.
class ReplayServer {
 public:
  // Reads the recording and listens. Error: kNotFound without a recording, kInvalid for an invalid
  // one (with file and line), kUnavailable if the port is not available.
  static Result<std::unique_ptr<ReplayServer>> Start(const ReplayOptions& options, const Clock& clock = RealClock());

  virtual ~ReplayServer() = default;
  virtual void Stop() = 0;
  virtual int port() const = 0;
  virtual std::size_t models() const = 0;
  std::string url() const;  // "http://127.0.0.1:41234", for HF_ENDPOINT

 protected:
  std::string host_;
};

// `breakwatch hub serve DIR`: serves until SIGINT or SIGTERM, prints one line with the address on standard output and
// errors on standard error, and returns the exit code. Blocks both signals in the calling thread: call it before
// other threads start. `on_ready` gets the address.
int ServeMain(const ReplayOptions& options, const std::function<void(const std::string& url)>& on_ready = {});

}  // namespace breakwatch::hub_replay
