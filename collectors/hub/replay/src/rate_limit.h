// RateLimit: fixed windows per client address and bucket. Two headers of every answer report them.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "breakwatch/core/clock.h"
#include "faults.h"
#include "http_values.h"

namespace breakwatch::hub_replay {

// Thread: any.
class RateLimit {
 public:
  RateLimit(const Quotas& quotas, const Clock& clock) : quotas_(quotas), clock_(clock) {}

  struct Left {
    std::string bucket;  // "api", "resolvers" or "pages"
    int remaining = 0, seconds = 0, quota = 0, window_s = 0;
    bool allowed = true;  // false: the window was exhausted before this request

    void SetHeaders(Answer& answer) const;
  };
  // Counts one request.
  Left Take(std::string_view peer, std::string_view path);

 private:
  struct Window {
    SteadyTime ends{};
    int used = 0;
  };

  const Quotas quotas_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Window> windows_;  // by address and bucket
};

}  // namespace breakwatch::hub_replay
