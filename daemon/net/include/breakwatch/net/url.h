// URLs, read by the parser of libcurl: what a check sees is what a request connects to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace breakwatch::net {

// An http or https URL in parts.
struct Url {
  std::string scheme;     // "http" or "https"
  std::string host;       // in lower case; an IPv6 address in brackets, with its zone
  std::string port;       // empty: the scheme's own
  std::string path;       // percent-encoded, without "." and ".." segments; "/" if the URL has none
  std::string query;      // percent-encoded, without "?"; may be empty
  bool has_user = false;  // a user or a password, even an empty one

  // Scheme, host and port: "https://huggingface.co". Equal if requests go to the same server.
  std::string Origin() const;
  // Path and query.
  std::string Target() const;
};

// nullopt: not an absolute http or https URL, or one that parsers read differently.
std::optional<Url> ParseUrl(std::string_view text);

// The URL that `reference` (absolute, "//host/..", "/path" or relative) names in a document at `base`. nullopt: either
// is empty, or the URL is none that ParseUrl accepts.
std::optional<std::string> ResolveUrl(std::string_view base, std::string_view reference);

// Percent-encodes every byte except letters, digits, "-._~" and those of `keep`.
std::string PercentEncode(std::string_view text, std::string_view keep = "");

// For messages: without user part, query and fragment, because user parts contain passwords and queries contain
// signatures; at most 300 bytes. Accepts any text.
std::string PrintableUrl(std::string_view url);

}  // namespace breakwatch::net
