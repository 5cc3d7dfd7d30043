#include "registry_http.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"
#include "registries.h"

namespace breakwatch::exporters {
namespace {

constexpr std::array kTemporary = {408, 429, 500, 502, 503, 504};
constexpr int kMaxRedirects = 5;
constexpr std::size_t kMargin = 1u << 20;  // for the text of an error
constexpr std::chrono::milliseconds kLongestPause{10'000};
// Only a bound: a request that makes no progress ends long before.
constexpr std::chrono::hours kLongestRequest{24};
// A server that says nothing costs the time-out each time.
constexpr int kTriesOfTimeouts = 2;

bool IsTemporary(int status) { return std::find(kTemporary.begin(), kTemporary.end(), status) != kTemporary.end(); }
bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// The value of a parameter of WWW-Authenticate: Bearer realm="...",service="...".
std::string Parameter(const std::string& challenge, const std::string& name) {
  const std::string start = name + "=\"";
  const std::size_t at = challenge.find(start);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + start.size(), end = challenge.find('"', begin);
  return end == std::string::npos ? "" : challenge.substr(begin, end - begin);
}

std::string Origin(const std::string& url) {
  const auto parsed = net::ParseUrl(url);
  return parsed ? parsed->Origin() : "";
}

std::int64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace

RegistryHttp::RegistryHttp(RegistryOptions options, std::string base)
    : options_(std::move(options)), base_(std::move(base)), token_(options_.token), sender_(options_.make_sender()) {}

void RegistryHttp::SetLimits(net::HttpRequest& request) const {
  request.connect_timeout = options_.connect_timeout;
  request.stall_timeout = options_.timeout;
  request.timeout = kLongestRequest;
  request.tls = options_.tls;
}

Result<net::HttpResponse> RegistryHttp::SendOnce(net::HttpRequest request) {
  if (request.url.starts_with('/')) request.url = base_ + request.url;
  SetLimits(request);
  if (Origin(request.url) == Origin(base_)) {
    if (!token_.empty()) {
      request.bearer_token = token_;
    } else {
      request.user = options_.user, request.password = options_.password;
    }
  }
  return sender_->Send(request);
}

Result<net::HttpResponse> RegistryHttp::Send(net::HttpRequest request) {
  std::chrono::milliseconds pause = options_.pause;
  bool exchanged = false;
  for (int tries = options_.tries;;) {
    auto answer = SendOnce(request);
    if (answer && answer->status == 401 && !exchanged && TakeToken(*answer)) {
      exchanged = true;
      continue;
    }
    const bool again = answer ? IsTemporary(answer->status) : answer.error().retryable;
    if (!answer && net::IsTimeout(answer.error())) tries = std::min(tries, kTriesOfTimeouts);
    if (!again || --tries <= 0) return answer;
    const auto asked = answer ? net::RetryAfter(*answer) : std::nullopt;
    std::this_thread::sleep_for(std::min(asked.value_or(pause), kLongestPause));
    pause *= 2;
  }
}

Result<net::HttpResponse> RegistryHttp::Get(const std::string& url, net::Headers headers, std::size_t max_bytes) {
  net::HttpRequest request;
  request.max_response_bytes = max_bytes;
  request.url = url.starts_with('/') ? base_ + url : url;
  request.headers = std::move(headers);
  return Follow(std::move(request));
}

Result<net::HttpResponse> RegistryHttp::Follow(net::HttpRequest request) {
  for (int hops = 0;; ++hops) {
    auto answer = Send(request);
    if (!answer || !IsRedirect(answer->status)) return answer;
    const auto to = net::ResolveUrl(request.url, answer->Header("location").value_or(""));
    if (!to || hops == kMaxRedirects)
      return Error{ErrorCode::kInvalid, net::PrintableUrl(request.url) + ": endless or invalid redirect"};
    request.url = *to;
  }
}

bool RegistryHttp::TakeToken(const net::HttpResponse& challenge) {
  const std::string header = challenge.Header("www-authenticate").value_or("");
  const std::string realm = Parameter(header, "realm");
  if (!Lower(header).starts_with("bearer ") || !net::ParseUrl(realm)) return false;
  net::HttpRequest request;
  request.url = realm + (realm.find('?') == std::string::npos ? "?" : "&") +
                "service=" + net::PercentEncode(Parameter(header, "service")) +
                "&scope=" + net::PercentEncode(Parameter(header, "scope"));
  // The registry names the server that knows its users: the user is sent only to it, over TLS or to the same host.
  if (realm.starts_with("https:") || Origin(realm) == Origin(base_))
    request.user = options_.user, request.password = options_.password;
  SetLimits(request);
  const auto answer = sender_->Send(request);
  if (!answer || answer->status != 200) return false;
  const auto body = nlohmann::json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
  for (const char* name : {"token", "access_token"}) {
    if (body.is_object() && body.contains(name) && body[name].is_string()) token_ = body[name].get<std::string>();
  }
  return !token_.empty();
}

Result<void> RegistryHttp::Download(const std::string& url, const std::string& path, std::int64_t bytes) {
  for (std::int64_t done = 0; done < bytes || (done == 0 && bytes == 0);) {
    const std::int64_t last = std::min(bytes, done + static_cast<std::int64_t>(options_.chunk_bytes)) - 1;
    const std::string range = std::to_string(done) + "-" + std::to_string(std::max<std::int64_t>(last, 0));
    net::HttpRequest request;
    request.url = url.starts_with('/') ? base_ + url : url;
    request.headers = {{"Accept-Encoding", "identity"}};  // the bytes themselves
    if (bytes > 0) request.headers.emplace_back("Range", "bytes=" + range);
    request.response_file = path, request.response_offset = done;
    request.max_response_bytes = static_cast<std::size_t>(bytes - done) + kMargin;
    const auto answer = Follow(std::move(request));
    if (!answer) return answer.error();
    if (answer->status == 200 && done == 0) return {};  // all of it: the caller compares it
    if (answer->status != 206) return Unexpected(*answer, "cannot download " + net::PrintableUrl(url));
    const std::string promised = answer->Header("content-range").value_or("");
    if (!promised.starts_with("bytes " + range + "/"))
      return Error{ErrorCode::kInvalid, net::PrintableUrl(url) + ": asked for bytes " + range + ", got " + promised};
    if (SizeOf(path) != last + 1) return Error{ErrorCode::kInvalid, net::PrintableUrl(url) + ": an incomplete range"};
    done = last + 1;
  }
  return {};
}

Error Unexpected(const net::HttpResponse& response, const std::string& what) {
  const std::string advice = response.status == 401 || response.status == 403
                                 ? "; set artifact.registry.username or artifact.registry.token_file"
                                 : "";
  return {response.status == 404 ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
          what + ": status " + std::to_string(response.status) + " " + ShortLine(response.body, 300) + advice,
          IsTemporary(response.status),
          {}};
}

Result<void> CheckFetched(const std::string& path, const PackageFile& file, const std::string& place) {
  const auto digest = Sha256OfFile(path);
  if (!digest) return digest.error();
  if (*digest == file.sha256) return {};
  return Error{ErrorCode::kInvalid, file.path + " of " + place + " has SHA-256 " + *digest + ", expected " +
                                        file.sha256 + ": it was changed or is incomplete"};
}

}  // namespace breakwatch::exporters
