// Pacer: keeps each bucket of the Hub's rate limit above zero, from the headers that every answer carries.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "breakwatch/core/clock.h"
#include "breakwatch/net/http.h"

namespace breakwatch::hub {

// One window of a bucket: `ratelimit: "api";r=499;t=295`.
struct RateLimit {
  std::string bucket;
  std::int64_t remaining = 0;
  std::chrono::seconds until_reset{0};  // bounded to an hour
};
std::optional<RateLimit> ReadRateLimit(const net::HttpResponse& response);

class Pacer {
 public:
  void Note(const RateLimit& limit, SteadyTime now);

  // How long one more request has to wait while `in_flight` are unanswered; zero for an unknown bucket. The last
  // request of a window is never spent: somebody else behind this address may need it, and an answer 429 costs more.
  std::chrono::milliseconds Wait(const std::string& bucket, int in_flight, SteadyTime now) const;

 private:
  struct Window {
    std::int64_t remaining = 0;
    SteadyTime reset;
  };
  std::map<std::string, Window> windows_;
};

}  // namespace breakwatch::hub
