#include "rate_limit.h"

#include <algorithm>

namespace breakwatch::hub_replay {
namespace {

constexpr std::size_t kMaxWindows = 4096;

std::string BucketOf(std::string_view path) {
  if (path.starts_with("/api/resolve-cache/") || path.find("/resolve/") != std::string_view::npos) return "resolvers";
  return path.starts_with("/api/") ? "api" : "pages";
}

}  // namespace

void RateLimit::Left::SetHeaders(Answer& answer) const {
  const std::string name = '"' + bucket + '"';
  answer.With("RateLimit", name + ";r=" + std::to_string(remaining) + ";t=" + std::to_string(seconds));
  answer.With("RateLimit-Policy",
              "\"fixed window\";" + name + ";q=" + std::to_string(quota) + ";w=" + std::to_string(window_s));
}

RateLimit::Left RateLimit::Take(std::string_view peer, std::string_view path) {
  Left left;
  left.bucket = BucketOf(path);
  left.quota = left.bucket == "api" ? quotas_.api : left.bucket == "resolvers" ? quotas_.resolvers : quotas_.pages;
  left.window_s = quotas_.window_s;
  const SteadyTime now = clock_.Steady();
  const std::lock_guard lock(mutex_);
  if (windows_.size() >= kMaxWindows)
    std::erase_if(windows_, [&](const auto& entry) { return entry.second.ends <= now; });
  if (windows_.size() >= kMaxWindows) windows_.clear();
  Window& window = windows_[{std::string(peer), left.bucket}];
  if (window.ends <= now) window = {now + std::chrono::seconds(quotas_.window_s), 0};
  left.allowed = window.used < left.quota;
  if (left.allowed) ++window.used;
  left.remaining = left.quota - window.used;
  left.seconds = static_cast<int>(std::chrono::ceil<std::chrono::seconds>(window.ends - now).count());
  return left;
}

}  // namespace breakwatch::hub_replay
