// Fetcher: GET requests to one endpoint. Retries, follows redirects, and respects the rate limit.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "breakwatch/core/clock.h"
#include "breakwatch/hub_replay/record.h"
#include "breakwatch/net/http.h"

namespace breakwatch::hub_replay {

// Thread: the pool's.
class Fetcher {
 public:
  using Done = std::function<void(Result<net::HttpResponse>)>;

  Fetcher(const RecordOptions& options, net::HttpPool& pool, const Clock& clock);
  // `path` begins with "/". `done` gets the last answer of any status. The token is sent only to the
  // endpoint's server.
  void Get(const std::string& path, std::size_t max_bytes, Done done);
  const std::string& endpoint() const { return endpoint_; }

 private:
  struct Job {
    std::string url;
    std::size_t max_bytes;
    Done done;
    int attempt = 1, hops = 0;
  };
  void Submit(Job job, std::chrono::milliseconds pause);
  void Finish(Job job, Result<net::HttpResponse> answer);
  bool IsOurs(const std::string& url) const;
  // The target of a redirect; nullopt if there is none, or one that is neither ours nor https.
  std::optional<std::string> Target(const std::string& url, const net::HttpResponse& answer) const;
  void Heed(const net::HttpResponse& answer);
  std::chrono::milliseconds Pause(const Job& job, const net::HttpResponse* answer) const;

  const RecordOptions& options_;
  net::HttpPool& pool_;
  const Clock& clock_;
  std::string endpoint_, origin_;
  SteadyTime open_at_{};  // the rate limit is exhausted until then
};

}  // namespace breakwatch::hub_replay
