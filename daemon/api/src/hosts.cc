#include "hosts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string_view>

#include "breakwatch/core/text.h"

namespace breakwatch::api {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Empty if what follows the name is no port.
std::string WithoutPort(const std::string& host) {
  const bool in_brackets = host.starts_with('[');
  const std::size_t end = std::min(in_brackets ? host.find(']') : host.find(':'), host.size());
  const std::string_view rest = std::string_view(host).substr(std::min(end + (in_brackets ? 1 : 0), host.size()));
  const bool is_port = rest.empty() || (rest.starts_with(':') && std::all_of(rest.begin() + 1, rest.end(), IsDigit));
  return is_port ? host.substr(in_brackets ? 1 : 0, end - (in_brackets ? 1 : 0)) : "";
}

bool IsAddress(const std::string& name) {
  unsigned char address[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), address) == 1 || inet_pton(AF_INET6, name.c_str(), address) == 1;
}

}  // namespace

bool IsOwnHost(const std::string& host, const std::vector<std::string>& allowed) {
  if (host.empty()) return true;  // of HTTP/1.0; no browser sends it
  const std::string name = Lower(WithoutPort(host));
  if (name.empty()) return false;
  if (name.find('.') == std::string::npos || IsAddress(name)) return true;
  return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& own) { return Lower(own) == name; });
}

}  // namespace breakwatch::api
