#include "hub_client.h"

#include <algorithm>
#include <array>

#include "breakwatch/core/text.h"
#include "url.h"

namespace breakwatch::hub {
namespace {

using std::chrono::milliseconds;

constexpr int kMaxHops = 5;

std::string BucketOf(Kind kind) { return kind == Kind::kFile || kind == Kind::kRange ? "resolvers" : "api"; }

bool IsRedirect(int status) {
  constexpr std::array<int, 5> kStatuses = {301, 302, 303, 307, 308};
  return std::find(kStatuses.begin(), kStatuses.end(), status) != kStatuses.end();
}

// Temporary errors: timeout, too many requests, server error.
bool IsPassing(int status) {
  constexpr std::array<int, 6> kStatuses = {408, 429, 500, 502, 503, 504};
  return std::find(kStatuses.begin(), kStatuses.end(), status) != kStatuses.end();
}

}  // namespace

HubClient::HubClient(const HubOptions& options, const Clock& clock)
    : options_(options),
      clock_(clock),
      origin_(Origin(options.endpoint)),
      pool_(net::MakeHttpPool(options.user_agent, static_cast<std::size_t>(std::max(1, options.concurrency)))),
      random_(static_cast<std::minstd_rand::result_type>(clock.Now().time_since_epoch().count())) {}

void HubClient::Get(Kind kind, const std::string& target, Done done, net::Headers headers) {
  auto call = std::make_shared<Call>();
  call->kind = kind;
  call->first_url = target.starts_with('/') ? options_.endpoint + target : target;
  call->url = call->first_url;
  call->done = std::move(done);
  call->headers = std::move(headers);
  call->tries_left = options_.tries - 1;
  call->hops_left = kMaxHops;
  buckets_[BucketOf(kind)].waiting.push_back(std::move(call));
}

Result<void> HubClient::Run(std::stop_token stop) {
  Pump();
  return pool_->Run(stop);
}

void HubClient::Pump() {
  for (auto& [name, bucket] : buckets_) PumpBucket(name, bucket);
}

void HubClient::PumpBucket(const std::string& name, Bucket& bucket) {
  while (!bucket.waiting.empty() && in_flight_ < options_.concurrency) {
    const milliseconds wait = pacer_.Wait(name, bucket.in_flight, clock_.Steady());
    // If other requests are in flight, their answers update the limit. Only the last one sleeps until the window ends.
    if (wait.count() > 0 && bucket.in_flight > 0) return;
    if (wait > std::chrono::seconds(5)) {
      Warn("paused " + std::to_string(wait.count() / 1000) + " s for the Hub's rate limit (" + name + ")");
    }
    const CallPtr call = std::move(bucket.waiting.front());
    bucket.waiting.pop_front();
    ++bucket.in_flight;
    ++in_flight_;
    const milliseconds pause = std::min(wait, options_.max_pause);
    if (!HasTimeFor(pause)) {
      ++call->tries_left;  // this attempt is not made
      call->gave_up = OutOfTime();
      Finish(call, Error{ErrorCode::kUnavailable, "no time left", true});
      continue;
    }
    Send(call, pause);
    if (wait.count() > 0) return;
  }
}

net::HttpRequest HubClient::MakeRequest(const Call& call, milliseconds delay) const {
  net::HttpRequest request;
  request.url = call.url;
  request.headers = call.headers;
  if (Origin(call.url) == origin_) request.bearer_token = options_.token;
  request.connect_timeout = options_.connect_timeout;
  request.timeout = call.kind == Kind::kList ? options_.list_timeout : options_.timeout;
  if (bound_) {
    const auto left = std::chrono::ceil<milliseconds>(bound_->end - clock_.Steady()) - delay;
    request.timeout = std::min(request.timeout, std::max(left, milliseconds(1)));
  }
  constexpr std::size_t kMaxListBytes = 64u << 20;
  constexpr std::size_t kMaxInfoBytes = 16u << 20;
  request.max_response_bytes = call.kind == Kind::kList    ? kMaxListBytes
                               : call.kind == Kind::kInfo  ? kMaxInfoBytes
                               : call.kind == Kind::kRange ? kMaxRangeBytes
                                                           : options_.max_config_bytes;
  return request;
}

void HubClient::Send(const CallPtr& call, milliseconds delay) {
  auto done = [this, call](Result<net::HttpResponse> answer) { Take(call, std::move(answer)); };
  if (delay.count() > 0) {
    pool_->SubmitAfter(delay, MakeRequest(*call, delay), std::move(done));
  } else {
    pool_->Submit(MakeRequest(*call, delay), std::move(done));
  }
}

void HubClient::Take(const CallPtr& call, Result<net::HttpResponse> answer) {
  if (answer) {
    NoteHeaders(*answer);
    if (IsRedirect(answer->status)) {
      if (Redirect(call, *answer)) return;
      const std::string what = call->hops_left > 0 ? ": a redirect without a target" : ": too many redirects";
      return Finish(call, Error{ErrorCode::kInvalid, call->url.substr(0, call->url.find('?')) + what});
    }
  }
  if (!Retry(call, answer)) Finish(call, std::move(answer));
}

void HubClient::Finish(const CallPtr& call, Result<net::HttpResponse> answer) {
  --buckets_[BucketOf(call->kind)].in_flight;
  --in_flight_;
  const bool interrupted = !answer && answer.error().code == ErrorCode::kInterrupted;
  Answer with_effort(std::move(answer));
  with_effort.effort = EffortOf(*call);
  call->done(std::move(with_effort));
  if (!interrupted) Pump();
}

// Redirects are followed at once: the rate limit already allowed the request.
bool HubClient::Redirect(const CallPtr& call, const net::HttpResponse& response) {
  const auto location = response.Header("location");
  if (!location || call->hops_left == 0) return false;
  const auto target = ResolveLocation(call->url, *location);
  if (!target) return false;
  call->url = AtEndpoint(*target, options_.endpoint);
  --call->hops_left;
  Send(call, milliseconds(0));
  return true;
}

bool HubClient::Retry(const CallPtr& call, const Result<net::HttpResponse>& answer) {
  const bool may_pass = answer ? IsPassing(answer->status) : answer.error().retryable;
  call->asked = answer ? net::RetryAfter(*answer) : std::nullopt;
  if (!may_pass || call->tries_left == 0) return false;
  milliseconds wait = Backoff(*call);
  if (answer) {
    if (call->asked) wait = std::max(wait, *call->asked);
    const auto limit = ReadRateLimit(*answer);
    if (answer->status == 429 && limit && limit->remaining == 0) {
      wait = std::max(wait, milliseconds(limit->until_reset + std::chrono::seconds(1)));
    }
  }
  // A very long pause counts as a refusal.
  if (wait > options_.max_pause) return call->gave_up = "longer than the limit", false;
  if (!HasTimeFor(wait)) return call->gave_up = OutOfTime(), false;
  --call->tries_left;
  call->url = call->first_url;  // a signed address may have expired
  call->hops_left = kMaxHops;
  Send(call, wait);
  return true;
}

void HubClient::BoundBy(std::optional<milliseconds> timeout) {
  bound_.reset();
  if (timeout) bound_ = Bound{*timeout, clock_.Steady() + *timeout};
}

std::string HubClient::OutOfTime() const { return "hub.timeout is " + std::to_string(bound_->timeout.count()) + " ms"; }

// "5 attempts", "1 attempt; the Hub requests a pause of 3600 s, longer than the limit"
std::string HubClient::EffortOf(const Call& call) const {
  const int tries = options_.tries - call.tries_left;
  std::string text = tries == 1 ? "1 attempt" : std::to_string(tries) + " attempts";
  if (call.asked) text += "; the Hub requests a pause of " + std::to_string(call.asked->count() / 1000) + " s";
  if (!call.gave_up.empty()) text += (call.asked ? ", " : "; ") + call.gave_up;
  return text;
}

// Doubles with each attempt. The upper half is random, so that many clients do not retry together.
milliseconds HubClient::Backoff(const Call& call) {
  const int retries = options_.tries - 1 - call.tries_left;
  const auto longest = std::min(options_.max_backoff, options_.first_backoff * (1 << std::min(retries, 20)));
  std::uniform_int_distribution<milliseconds::rep> spread(longest.count() / 2, longest.count());
  return milliseconds(spread(random_));
}

void HubClient::NoteHeaders(const net::HttpResponse& response) {
  if (const auto limit = ReadRateLimit(response)) pacer_.Note(*limit, clock_.Steady());
  if (const auto text = response.Header("x-hf-warning")) Warn("the Hub's message: " + *text);
}

void HubClient::Warn(const std::string& text) {
  constexpr std::size_t kMaxWarnings = 50;
  constexpr std::size_t kMaxBytes = 500;
  const std::string clean = WithoutToken(Truncate(ToUtf8(text), kMaxBytes));
  if (warnings_.size() < kMaxWarnings && warned_.insert(clean).second) warnings_.push_back(clean);
}

std::string HubClient::WithoutToken(std::string text) const {
  if (options_.token.empty()) return text;
  for (std::size_t at = text.find(options_.token); at != text.npos; at = text.find(options_.token, at)) {
    text.replace(at, options_.token.size(), "***");
  }
  return text;
}

}  // namespace breakwatch::hub
