// URLs of the Hub: resolves redirects and links, and checks that they stay on the endpoint.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace breakwatch::hub {

// Scheme, host and port, in lower case and without the scheme's default port: "https://huggingface.co". Empty if `url`
// is not an absolute http or https URL.
std::string Origin(std::string_view url);

// Resolves `location` (absolute, "//host/..", "/path" or relative) against `base`. nullopt for another scheme, and for
// a change from https to http.
std::optional<std::string> ResolveLocation(std::string_view base, std::string_view location);

// A mirror may return links and redirects to the public Hub. Those, and links to the endpoint itself, become the same
// API path at `endpoint`. Other addresses stay unchanged.
std::string AtEndpoint(std::string_view url, std::string_view endpoint);

// The target of rel="next" in a Link header.
std::optional<std::string> NextLink(std::string_view link_header);

// `link` as path and query below `endpoint`, if it is a further page of `page`, a path below `endpoint`. The link may
// be at the endpoint or at the public Hub, because a mirror keeps the Hub's name. nullopt for any other scheme, host,
// port or path, for a link with a user, and for one that parsers read differently.
std::optional<std::string> NextPage(std::string_view link, std::string_view page, std::string_view endpoint);

}  // namespace breakwatch::hub
