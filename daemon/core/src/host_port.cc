#include "breakwatch/core/host_port.h"

#include <charconv>

namespace breakwatch {
namespace {

std::optional<int> ParsePort(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > 65'535) return std::nullopt;
  return static_cast<int>(value);
}

}  // namespace

std::optional<HostPort> ParseHostPort(std::string_view text) {
  HostPort out;
  std::string_view host = text;
  const auto colon = text.rfind(':');
  if (colon != std::string_view::npos && text.substr(colon).find(']') == std::string_view::npos) {
    host = text.substr(0, colon);
    out.port = ParsePort(text.substr(colon + 1));
    if (!out.port) return std::nullopt;
  }
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || host.find_first_of(bracketed ? "[]" : ":[]") != std::string_view::npos) return std::nullopt;
  out.host = host;
  return out;
}

bool IsLoopback(std::string_view host) {
  const bool v4 = host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
  return v4 || host == "localhost" || host == "::1";
}

}  // namespace breakwatch
