#include "url.h"

#include <algorithm>
#include <array>

#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"

namespace breakwatch::hub {
namespace {

bool IsPublicHub(std::string_view origin) {
  constexpr std::array<std::string_view, 3> kOrigins = {"https://huggingface.co", "https://www.huggingface.co",
                                                        "https://hf.co"};
  return std::find(kOrigins.begin(), kOrigins.end(), origin) != kOrigins.end();
}

}  // namespace

std::string Origin(std::string_view url) {
  const auto parsed = net::ParseUrl(url);
  return parsed ? parsed->Origin() : std::string();
}

std::optional<std::string> ResolveLocation(std::string_view base, std::string_view location) {
  auto target = net::ResolveUrl(base, location);
  if (!target || (Origin(base).starts_with("https:") && Origin(*target).starts_with("http:"))) return std::nullopt;
  return target;
}

std::string AtEndpoint(std::string_view url, std::string_view endpoint) {
  const auto parsed = net::ParseUrl(url);
  const bool moves = parsed && IsPublicHub(parsed->Origin()) && parsed->Origin() != Origin(endpoint);
  return moves ? std::string(endpoint) + parsed->Target() : std::string(url);
}

std::optional<std::string> NextPage(std::string_view link, std::string_view page, std::string_view endpoint) {
  const auto is_doubtful = [](unsigned char c) { return c <= ' ' || c == 0x7F || c == '\\'; };
  if (std::any_of(link.begin(), link.end(), is_doubtful)) return std::nullopt;
  const auto own = net::ParseUrl(endpoint);
  if (!own) return std::nullopt;
  const std::string prefix = own->path == "/" ? "" : own->path;  // of a mirror
  const auto url = ResolveLocation(own->Origin() + prefix + std::string(page), link);
  const auto next = url ? net::ParseUrl(*url) : std::nullopt;
  if (!next || next->has_user) return std::nullopt;
  const bool is_own = next->Origin() == own->Origin();
  if (!is_own && !IsPublicHub(next->Origin())) return std::nullopt;
  std::string target = next->Target();
  if (is_own && target.starts_with(prefix)) target.erase(0, prefix.size());
  if (target.substr(0, target.find('?')) != page.substr(0, page.find('?'))) return std::nullopt;
  return target;
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
