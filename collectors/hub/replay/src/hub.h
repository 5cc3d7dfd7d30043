// Hub: answers requests from a recording as the Hub would. It uses no sockets. The answer depends only on the request,
// the recording, the rate limits and the remaining faults.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/clock.h"
#include "http_values.h"
#include "rate_limit.h"
#include "recording.h"
#include "refusals.h"

namespace breakwatch::hub_replay {

// Thread: any.
class Hub {
 public:
  // `clock` must outlive the hub. `link_endpoint` as in ReplayOptions.
  Hub(Recording recording, std::string link_endpoint, const Clock& clock);
  Answer Handle(const Request& request);
  const Recording& recording() const { return recording_; }

 private:
  struct Caller {
    bool has_token = false, bad_token = false;
    const std::set<std::string>* opens = nullptr;  // ids

    bool Opens(const std::string& id) const { return opens && opens->contains(id); }
  };
  // The repository in a path, and the remaining parts of the path, as sent.
  struct Named {
    std::string id;
    std::vector<std::string_view> rest;
  };

  Answer Route(const Request& request);
  Answer List(const Request& request, const Caller& caller);
  Answer RepoApi(const Request& request, const Caller& caller, const std::vector<std::string_view>& parts);
  Answer Resolve(const Request& request, const Caller& caller, const Named& named);
  // /api/resolve-cache/models/... and /lfs/...
  Answer Stored(const Request& request, const Caller& caller, std::vector<std::string_view> parts);
  Answer WhoAmI(const Caller& caller) const;

  Caller CallerOf(const Request& request) const;
  Named NameOf(const std::vector<std::string_view>& parts) const;
  bool IsKnown(const std::string& id) const;
  // Why the caller may not see the repository, or may not read its files (`bytes`).
  std::optional<Refusal> Denied(const Caller& caller, const RecordedModel* model, bool bytes) const;
  Refusal NoRepo(const Caller& caller) const;
  std::string LinkEndpoint(const Request& request) const;
  // The fault that is due now, from the number of requests for `key`.
  std::optional<Answer> Fault(const std::optional<Failing>& failing, const std::string& key);

  const Recording recording_;
  const std::string link_endpoint_;
  const unsigned long long started_;  // Unix seconds, for request ids
  RateLimit limits_;
  std::atomic<std::uint64_t> requests_{0};
  std::mutex mutex_;
  std::map<std::string, int> seen_;  // requests by fault key
};

}  // namespace breakwatch::hub_replay
