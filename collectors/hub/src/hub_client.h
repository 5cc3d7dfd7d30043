// HubClient: GET requests to the Hub. Limits the rate, retries, follows redirects, and sends the token only to the
// endpoint.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/hub/hub_options.h"
#include "breakwatch/net/http.h"
#include "pacer.h"

namespace breakwatch::hub {

// Kinds of requests. Each has its own rate limit and other limits.
enum class Kind { kList, kInfo, kFile, kRange };

// The longest part of a file that is requested at once (kRange).
inline constexpr std::size_t kMaxRangeBytes = 16u << 20;

// Owner: one List call. Thread: the caller's; callbacks run inside Run and may call Get.
class HubClient {
 public:
  // `effort`: the number of attempts, the last pause that the Hub requested, and why no further attempt was made.
  struct Answer : Result<net::HttpResponse> {
    explicit Answer(Result<net::HttpResponse> result) : Result(std::move(result)) {}
    std::string effort;
  };
  using Done = std::function<void(Answer)>;

  // Both must outlive it. Allows at least one attempt and one request at a time.
  HubClient(const HubOptions& options, const Clock& clock);

  // `target` is a path with query below the endpoint, or an absolute URL. The answer is the last one after all
  // redirects and attempts, of any status except a redirect's. Error: as HttpPool, and kInvalid for endless or invalid
  // redirects.
  void Get(Kind kind, const std::string& target, Done done, net::Headers headers = {});
  Result<void> Run(std::stop_token stop);
  // From now on all requests, including pauses and retries, must end within `timeout`. Later ones get an Error
  // (kUnavailable). nullopt: each request has only its own deadline.
  void BoundBy(std::optional<std::chrono::milliseconds> timeout);

  // Warnings of the Hub (X-HF-Warning) and about long waits, each once.
  const std::vector<std::string>& warnings() const { return warnings_; }
  void Warn(const std::string& text);
  // `text` without the token, in case a server returns it.
  std::string WithoutToken(std::string text) const;

 private:
  struct Call {
    Kind kind;
    std::string first_url, url;  // as requested, and after the redirects of this attempt
    Done done;
    net::Headers headers{};
    int tries_left = 0;
    int hops_left = 0;                                 // of this attempt
    std::optional<std::chrono::milliseconds> asked{};  // pause that the last answer requested
    std::string gave_up{};                             // why the remaining attempts are not made
  };
  using CallPtr = std::shared_ptr<Call>;
  struct Bucket {
    std::deque<CallPtr> waiting;
    int in_flight = 0;
  };

  void Pump();
  void PumpBucket(const std::string& name, Bucket& bucket);
  void Send(const CallPtr& call, std::chrono::milliseconds delay);
  // False if the pause is longer than the remaining time.
  bool HasTimeFor(std::chrono::milliseconds pause) const { return !bound_ || clock_.Steady() + pause < bound_->end; }
  std::string OutOfTime() const;
  std::string EffortOf(const Call& call) const;
  void Take(const CallPtr& call, Result<net::HttpResponse> answer);
  void Finish(const CallPtr& call, Result<net::HttpResponse> answer);
  bool Redirect(const CallPtr& call, const net::HttpResponse& response);
  bool Retry(const CallPtr& call, const Result<net::HttpResponse>& answer);
  std::chrono::milliseconds Backoff(const Call& call);
  void NoteHeaders(const net::HttpResponse& response);
  net::HttpRequest MakeRequest(const Call& call, std::chrono::milliseconds delay) const;

  const HubOptions& options_;
  const Clock& clock_;
  const std::string origin_;  // of the endpoint: the token is sent only there
  std::unique_ptr<net::HttpPool> pool_;
  Pacer pacer_;
  std::map<std::string, Bucket> buckets_;
  int in_flight_ = 0;
  struct Bound {
    std::chrono::milliseconds timeout;
    SteadyTime end;
  };
  std::optional<Bound> bound_;
  std::minstd_rand random_;
  std::set<std::string> warned_;
  std::vector<std::string> warnings_;
};

}  // namespace breakwatch::hub
