#include "pacer.h"

#include <algorithm>
#include <charconv>

namespace breakwatch::hub {
namespace {

// The number after `;name=`. Blanks are allowed.
std::optional<std::int64_t> Parameter(std::string_view text, char name) {
  for (std::size_t at = text.find(';'); at != text.npos; at = text.find(';', at + 1)) {
    std::size_t i = text.find_first_not_of(" \t", at + 1);
    if (i == text.npos || text[i] != name) continue;
    i = text.find_first_not_of(" \t", i + 1);
    if (i == text.npos || text[i] != '=') continue;
    i = text.find_first_not_of(" \t", i + 1);
    if (i == text.npos) return std::nullopt;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), number);
    if (error == std::errc{} && number >= 0) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<RateLimit> ReadRateLimit(const net::HttpResponse& response) {
  const auto header = response.Header("ratelimit");
  if (!header) return std::nullopt;
  const std::string_view text = *header;
  const std::size_t open = text.find('"');
  const std::size_t close = open == text.npos ? open : text.find('"', open + 1);
  if (close == text.npos) return std::nullopt;
  const auto remaining = Parameter(text.substr(close), 'r');
  const auto until = Parameter(text.substr(close), 't');
  if (!remaining || !until) return std::nullopt;
  return RateLimit{std::string(text.substr(open + 1, close - open - 1)), *remaining,
                   std::chrono::seconds(std::min<std::int64_t>(*until, 3600))};
}

void Pacer::Note(const RateLimit& limit, SteadyTime now) {
  constexpr std::size_t kMaxBuckets = 16;
  if (windows_.size() >= kMaxBuckets && !windows_.contains(limit.bucket)) return;
  const SteadyTime reset = now + limit.until_reset;
  auto [entry, is_new] = windows_.try_emplace(limit.bucket, Window{limit.remaining, reset});
  Window& window = entry->second;
  // Answers may arrive out of order: within one window the lowest count is the newest. `t` has a resolution of seconds.
  const bool same_window = !is_new && std::chrono::abs(reset - window.reset) <= std::chrono::seconds(2);
  window = {same_window ? std::min(window.remaining, limit.remaining) : limit.remaining, reset};
}

std::chrono::milliseconds Pacer::Wait(const std::string& bucket, int in_flight, SteadyTime now) const {
  const auto entry = windows_.find(bucket);
  if (entry == windows_.end() || now >= entry->second.reset) return std::chrono::milliseconds(0);
  if (entry->second.remaining - in_flight > 1) return std::chrono::milliseconds(0);
  return std::chrono::ceil<std::chrono::milliseconds>(entry->second.reset - now);
}

}  // namespace breakwatch::hub
