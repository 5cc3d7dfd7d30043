#include "url.h"

#include "breakwatch/core/text.h"

namespace breakwatch::net {

std::string PrintableUrl(std::string_view url) {
  const std::size_t query = url.find_first_of("?#");
  if (query != std::string_view::npos) url = url.substr(0, query);
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t path = url.find('/', host);
  const std::string_view authority = url.substr(host, path == std::string_view::npos ? path : path - host);
  // The last '@', because a password may contain one.
  const std::size_t at = authority.rfind('@');
  std::string out(url.substr(0, host));
  out += at == std::string_view::npos ? url.substr(host) : url.substr(host + at + 1);
  constexpr std::size_t kMaxBytes = 300;
  return Truncate(ToUtf8(out), kMaxBytes);
}

}  // namespace breakwatch::net
