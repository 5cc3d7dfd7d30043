// Pacer: keeps the Hub's rate limits from being exceeded, using the headers of every answer.
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

  // The wait before another request while `in_flight` are unanswered; zero for an unknown bucket. The last request of a
  // window is never used. Another client with this address may need it, and a 429 answer costs more.
  std::chrono::milliseconds Wait(const std::string& bucket, int in_flight, SteadyTime now) const;

 private:
  struct Window {
    std::int64_t remaining = 0;
    SteadyTime reset;
  };
  std::map<std::string, Window> windows_;
};

}  // namespace breakwatch::hub
