// The one HTTP sender: requests out, finished answers back, everything bounded. The only user of libcurl.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct TlsOptions {
  std::string ca_file;              // empty: the system's (SSL_CERT_FILE, REQUESTS_CA_BUNDLE are honoured)
  std::string cert_file, key_file;  // client certificate
  bool insecure_skip_verify = false;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  Headers headers;
  std::string body;
  std::string body_file;       // sent instead of `body`, read while it is sent; with method PUT
  bool gzip_body = false;      // compress `body` and set Content-Encoding
  std::string user, password;  // basic auth when user is not empty
  std::string bearer_token;    // sent to the URL's host only; never followed across hosts, never logged
  TlsOptions tls;
  // Not on a connection that is open: if that one ends without an answer, libcurl sends the request a second time.
  bool fresh_connection = false;
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds timeout{30'000};  // of the whole exchange
  // Ends an exchange during which fewer than 1 KiB a second come or go for so long, in whole seconds; 0: never.
  std::chrono::milliseconds stall_timeout{0};
  // The body of an answer 200 or 206 is written to this file from `response_offset` on, which it then ends with, and
  // the answer has an empty body. Bodies of other answers stay in the answer. Error: kStore.
  std::string response_file;
  std::int64_t response_offset = 0;
  // Gets the body of an answer 200 in pieces, for bodies that must not be in memory as a whole; the answer has an empty
  // body. False: the rest is not needed, and the exchange ends with the answer. Thread: the sender's.
  std::function<bool(std::string_view)> on_body;
  std::size_t max_response_bytes = 64u << 20;  // a longer body is an Error (kInvalid)
};

struct HttpResponse {
  int status = 0;
  Headers headers;  // names in lower case
  std::string body;

  std::optional<std::string> Header(std::string_view lower_case_name) const;
};

// A server's Retry-After (seconds or an HTTP date), bounded to an hour.
std::optional<std::chrono::milliseconds> RetryAfter(const HttpResponse& response);

// True for the error of a request that got no complete answer in time.
bool IsTimeout(const Error& error);

// Sends one request and waits. Redirects are not followed: the answer is returned.
// Error: kUnavailable and retryable for connection faults and time-outs (the message names the URL
// without its user part), kInvalid for a body over the limit. Any HTTP status is an answer, not an error.
class HttpSender {
 public:
  virtual ~HttpSender() = default;
  virtual Result<HttpResponse> Send(const HttpRequest& request) = 0;
};

// Thread: the one that uses it; make one per thread. Keeps connections open between requests.
// After a stop request a running send ends within about a second, as a connection fault.
std::unique_ptr<HttpSender> MakeHttpSender(std::string user_agent, std::stop_token stop = {});

// Many at once on one curl multi handle: submit, and the callback gets each answer on the thread that
// calls Run; a callback may submit more. Run returns when nothing is left, or kInterrupted soon after
// a stop request (callbacks of unfinished requests then get kInterrupted).
class HttpPool {
 public:
  using Done = std::function<void(Result<HttpResponse>)>;
  virtual ~HttpPool() = default;
  virtual void Submit(HttpRequest request, Done done) = 0;
  // Submits after a pause, without blocking the others: for retries and pacing.
  virtual void SubmitAfter(std::chrono::milliseconds delay, HttpRequest request, Done done) = 0;
  virtual Result<void> Run(std::stop_token stop) = 0;
};
std::unique_ptr<HttpPool> MakeHttpPool(std::string user_agent, std::size_t max_in_flight);

}  // namespace breakwatch::net
