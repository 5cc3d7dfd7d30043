// URLs of the Hub: building, resolving a redirect, keeping to the endpoint.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace breakwatch::hub {

// Percent-encodes everything but unreserved characters.
std::string UrlEncode(std::string_view text);

// Scheme, host and port, in lower case and with the scheme's own port left out: "https://huggingface.co". Empty when
// `url` is no absolute http or https URL.
std::string Origin(std::string_view url);

// The address that `location` (absolute, "//host/..", "/path" or relative) means when answered by `base`.
// Nothing for another scheme, and for a step down from https to http.
std::optional<std::string> ResolveLocation(std::string_view base, std::string_view location);

// A mirror passes on links and redirects that name the public Hub: those, and links of the endpoint itself, are
// answered with the same API path at `endpoint`. Other addresses come back unchanged.
std::string AtEndpoint(std::string_view url, std::string_view endpoint);

// The target of rel="next" in a Link header.
std::optional<std::string> NextLink(std::string_view link_header);

// `link` as path and query below `endpoint`, when it is a further page of `page` (a path below `endpoint`) at the
// endpoint itself, or at the public Hub, whose name a mirror passes on. Nothing for any other scheme, host, port or
// path, for a link with a user, and for one that parsers read differently.
std::optional<std::string> NextPage(std::string_view link, std::string_view page, std::string_view endpoint);

}  // namespace breakwatch::hub
