#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <ctime>

#include "breakwatch/net/http.h"

namespace breakwatch::net {

std::optional<std::string> HttpResponse::Header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return std::nullopt;
}

namespace {

// Seconds from the answer's Date (or now) to `date`, so that a wrong local clock does not matter.
std::optional<std::int64_t> SecondsUntil(const HttpResponse& response, const std::string& date) {
  const std::time_t then = curl_getdate(date.c_str(), nullptr);
  if (then == -1) return std::nullopt;
  const auto server_date = response.Header("date");
  std::time_t now = server_date ? curl_getdate(server_date->c_str(), nullptr) : -1;
  if (now == -1) now = std::time(nullptr);
  return static_cast<std::int64_t>(then) - static_cast<std::int64_t>(now);
}

}  // namespace

std::optional<std::chrono::milliseconds> RetryAfter(const HttpResponse& response) {
  const auto text = response.Header("retry-after");
  if (!text || text->empty()) return std::nullopt;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error == std::errc::result_out_of_range) {
    seconds = text->front() == '-' ? 0 : 3600;
  } else if (error != std::errc{} || (end != text->data() + text->size() && *end != ' ')) {
    const auto until = SecondsUntil(response, *text);
    if (!until) return std::nullopt;
    seconds = *until;
  }
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, 3600));
}

}  // namespace breakwatch::net
