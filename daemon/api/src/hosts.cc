#include "hosts.h"

#include <arpa/inet.h>

#include <algorithm>

#include "breakwatch/core/text.h"

namespace breakwatch::api {
namespace {

std::string WithoutPort(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool IsAddress(const std::string& name) {
  unsigned char address[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), address) == 1 || inet_pton(AF_INET6, name.c_str(), address) == 1;
}

}  // namespace

bool IsOwnHost(const std::string& host, const std::vector<std::string>& allowed) {
  const std::string name = Lower(WithoutPort(host));
  if (name.find('.') == std::string::npos || IsAddress(name)) return true;
  return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& own) { return Lower(own) == name; });
}

}  // namespace breakwatch::api
