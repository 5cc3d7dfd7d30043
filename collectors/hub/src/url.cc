#include "url.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace breakwatch::hub {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Where the path or query begins; the size of `url` if it has neither.
std::size_t PathStart(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return 0;
  return std::min(url.find_first_of("/?#", scheme + 3), url.size());
}

// Scheme, host and port, unchanged: "https://user@host:1".
std::string_view UntilPath(std::string_view url) { return url.substr(0, PathStart(url)); }

bool IsPublicHub(std::string_view origin) {
  constexpr std::array<std::string_view, 3> kOrigins = {"https://huggingface.co", "https://www.huggingface.co",
                                                        "https://hf.co"};
  return std::find(kOrigins.begin(), kOrigins.end(), origin) != kOrigins.end();
}

}  // namespace

std::string UrlEncode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string Origin(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return {};
  const std::string scheme = Lower(url.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") return {};
  std::string_view authority = url.substr(scheme_end + 3, PathStart(url) - scheme_end - 3);
  // Parsers disagree about a backslash or blank, so such a host never matches the endpoint.
  if (authority.find_first_of("\\ \t\r\n") != authority.npos) return {};
  if (const std::size_t at = authority.rfind('@'); at != authority.npos) authority.remove_prefix(at + 1);
  if (authority.empty()) return {};
  std::string host = Lower(authority);
  const std::string_view own_port = scheme == "https" ? ":443" : ":80";
  if (host.ends_with(own_port)) host.resize(host.size() - own_port.size());
  return scheme + "://" + host;
}

std::optional<std::string> ResolveLocation(std::string_view base, std::string_view location) {
  const std::string base_origin = Origin(base);
  if (base_origin.empty() || location.empty()) return std::nullopt;
  std::string target;
  const std::size_t colon = location.find(':');
  if (location.starts_with("//")) {
    target = base_origin.substr(0, base_origin.find("//")) + std::string(location);
  } else if (location.front() == '/') {
    target = base_origin + std::string(location);
  } else if (colon != location.npos && colon < location.find_first_of("/?#")) {
    target = std::string(location);
  } else {
    const std::string_view path = base.substr(0, std::min(base.find_first_of("?#"), base.size()));
    const std::size_t slash = path.rfind('/');
    target = std::string(slash < PathStart(base) ? path : path.substr(0, slash)) + "/" + std::string(location);
  }
  const std::string origin = Origin(target);
  if (origin.empty() || (base_origin.starts_with("https://") && origin.starts_with("http://"))) return std::nullopt;
  return target;
}

std::string AtEndpoint(std::string_view url, std::string_view endpoint) {
  const std::string origin = Origin(url);
  if (!IsPublicHub(origin) || origin == Origin(endpoint)) return std::string(url);
  return std::string(endpoint) + std::string(url.substr(PathStart(url)));
}

std::optional<std::string> NextPage(std::string_view link, std::string_view page, std::string_view endpoint) {
  const auto is_doubtful = [](unsigned char c) { return c <= ' ' || c == 0x7F || c == '\\'; };
  if (std::any_of(link.begin(), link.end(), is_doubtful)) return std::nullopt;
  const auto url = ResolveLocation(std::string(endpoint) + std::string(page), link);
  if (!url || UntilPath(*url).find('@') != std::string_view::npos) return std::nullopt;
  const std::string origin = Origin(*url);
  if (origin != Origin(endpoint) && !IsPublicHub(origin)) return std::nullopt;
  std::string_view target = std::string_view(*url).substr(PathStart(*url));
  target = target.substr(0, target.find('#'));
  const std::string_view prefix = endpoint.substr(PathStart(endpoint));  // of a mirror
  if (origin == Origin(endpoint) && target.starts_with(prefix)) target.remove_prefix(prefix.size());
  if (target.substr(0, target.find('?')) != page.substr(0, page.find('?'))) return std::nullopt;
  return std::string(target);
}

std::optional<std::string> NextLink(std::string_view header) {
  while (true) {
    const std::size_t open = header.find('<');
    const std::size_t close = header.find('>', open);
    if (open == header.npos || close == header.npos) return std::nullopt;
    const std::string_view target = header.substr(open + 1, close - open - 1);
    header.remove_prefix(close + 1);
    const std::string parameters = Lower(header.substr(0, std::min(header.find('<'), header.size())));
    if (parameters.find("rel=\"next\"") != parameters.npos || parameters.find("rel=next") != parameters.npos) {
      return std::string(target);
    }
  }
}

}  // namespace breakwatch::hub
