#include "fetcher.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "breakwatch/net/url.h"

namespace breakwatch::hub_replay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMaxHops = 5;
constexpr milliseconds kLongestPause{8'000};

bool IsTransient(int status) {
  constexpr std::array<int, 6> kTransient = {408, 429, 500, 502, 503, 504};
  return std::find(kTransient.begin(), kTransient.end(), status) != kTransient.end();
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

Fetcher::Fetcher(const RecordOptions& options, net::HttpPool& pool, const Clock& clock)
    : options_(options), pool_(pool), clock_(clock), endpoint_(options.endpoint) {
  while (endpoint_.ends_with('/')) endpoint_.pop_back();
  if (const auto parsed = net::ParseUrl(endpoint_)) origin_ = parsed->Origin();
}

void Fetcher::Get(const std::string& path, std::size_t max_bytes, Done done) {
  Submit({endpoint_ + path, max_bytes, std::move(done)}, {});
}

bool Fetcher::IsOurs(const std::string& url) const {
  const auto parsed = net::ParseUrl(url);
  return parsed && parsed->Origin() == origin_;
}

void Fetcher::Submit(Job job, milliseconds pause) {
  net::HttpRequest request;
  request.url = job.url;
  request.tls = options_.tls;
  request.max_response_bytes = job.max_bytes;
  if (IsOurs(job.url)) request.bearer_token = options_.token;
  pause = std::max(pause, std::chrono::ceil<milliseconds>(open_at_ - clock_.Steady()));
  const auto done = [this, job = std::move(job)](Result<net::HttpResponse> answer) { Finish(job, std::move(answer)); };
  if (pause > milliseconds::zero()) {
    pool_.SubmitAfter(pause, std::move(request), done);
  } else {
    pool_.Submit(std::move(request), done);
  }
}

void Fetcher::Finish(Job job, Result<net::HttpResponse> answer) {
  if (answer) Heed(*answer);
  const bool again = answer ? IsTransient(answer->status) : answer.error().retryable;
  if (again && job.attempt < options_.attempts) {
    const milliseconds pause = Pause(job, answer ? &*answer : nullptr);
    ++job.attempt;
    return Submit(std::move(job), pause);
  }
  if (answer && IsRedirect(answer->status) && job.hops < kMaxHops) {
    if (auto target = Target(job.url, *answer)) {
      job.url = *std::move(target);
      ++job.hops;
      return Submit(std::move(job), {});
    }
  }
  job.done(std::move(answer));
}

std::optional<std::string> Fetcher::Target(const std::string& url, const net::HttpResponse& answer) const {
  auto target = net::ResolveUrl(url, answer.Header("location").value_or(""));
  if (!target || !(IsOurs(*target) || target->starts_with("https://"))) return std::nullopt;
  return target;
}

// RateLimit: "api";r=0;t=55
void Fetcher::Heed(const net::HttpResponse& answer) {
  const std::string left = answer.Header("ratelimit").value_or("");
  const auto place = left.find(";r=");
  int remaining = 0, wait_s = 0;
  if (place == std::string::npos || std::sscanf(left.c_str() + place, ";r=%d;t=%d", &remaining, &wait_s) != 2) return;
  if (remaining > 0 || wait_s < 0 || wait_s > 3600) return;
  open_at_ = std::max(open_at_, clock_.Steady() + seconds(wait_s + 1));
}

milliseconds Fetcher::Pause(const Job& job, const net::HttpResponse* answer) const {
  if (answer) {
    if (const auto asked = net::RetryAfter(*answer)) return *asked;
  }
  milliseconds pause = options_.first_pause;
  for (int i = 1; i < job.attempt && pause < kLongestPause; ++i) pause *= 2;
  // Adds up to a quarter to the pause, so that requests that failed together are not retried together.
  const auto spread = static_cast<long>(std::hash<std::string>{}(job.url) % 256);
  return std::min(pause, kLongestPause) * (1024 + spread) / 1024;
}

}  // namespace breakwatch::hub_replay
