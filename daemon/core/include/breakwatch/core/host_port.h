// HostPort: a network address as people write it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace breakwatch {

struct HostPort {
  std::string host;         // an IPv6 address without its brackets
  std::optional<int> port;  // 0 to 65535
  bool operator==(const HostPort&) const = default;
};

// "host", "host:port", "[v6]" or "[v6]:port"; nullopt for anything else.
std::optional<HostPort> ParseHostPort(std::string_view text);
// Whether a name or an address can only mean this machine, without a look-up.
bool IsLoopback(std::string_view host);

}  // namespace breakwatch
