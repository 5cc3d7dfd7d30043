#include "breakwatch/net/url.h"

#include <curl/curl.h>

#include <memory>

#include "breakwatch/core/text.h"

namespace breakwatch::net {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using UrlHandle = std::unique_ptr<CURLU, UrlDeleter>;

// Null if libcurl cannot read the URL.
UrlHandle Read(std::string_view text) {
  UrlHandle url(curl_url());
  // A C string would end at the NUL.
  const bool whole = !text.empty() && text.find('\0') == std::string_view::npos;
  if (!url || !whole || curl_url_set(url.get(), CURLUPART_URL, std::string(text).c_str(), 0) != CURLUE_OK) return {};
  return url;
}

std::optional<std::string> Part(const UrlHandle& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return std::nullopt;
  std::string copy(text);
  curl_free(text);
  return copy;
}

// "[fe80::1%25eth0]": the same address in another zone is another server.
std::string HostOf(const UrlHandle& url) {
  std::string host = Lower(Part(url, CURLUPART_HOST).value_or(""));
  const auto zone = Part(url, CURLUPART_ZONEID);
  if (zone && host.ends_with(']')) host.insert(host.size() - 1, "%25" + *zone);
  return host;
}

std::optional<Url> PartsOf(const UrlHandle& url) {
  Url parts;
  parts.scheme = Part(url, CURLUPART_SCHEME).value_or("");
  if (parts.scheme != "http" && parts.scheme != "https") return std::nullopt;
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD}) {
    const auto text = Part(url, part);
    // Browsers end the host at the backslash in "https://evil.example\@huggingface.co".
    if (text && text->find('\\') != std::string::npos) return std::nullopt;
    parts.has_user = parts.has_user || text;
  }
  parts.host = HostOf(url);
  if (parts.host.empty()) return std::nullopt;
  parts.port = Part(url, CURLUPART_PORT, CURLU_NO_DEFAULT_PORT).value_or("");
  parts.path = Part(url, CURLUPART_PATH).value_or("/");
  parts.query = Part(url, CURLUPART_QUERY).value_or("");
  return parts;
}

bool IsUnreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::string Url::Origin() const { return scheme + "://" + host + (port.empty() ? "" : ":" + port); }

std::string Url::Target() const { return path + (query.empty() ? "" : "?" + query); }

std::optional<Url> ParseUrl(std::string_view text) {
  const UrlHandle url = Read(text);
  return url ? PartsOf(url) : std::nullopt;
}

std::optional<std::string> ResolveUrl(std::string_view base, std::string_view reference) {
  const UrlHandle url = Read(base);
  const bool whole = !reference.empty() && reference.find('\0') == std::string_view::npos;
  if (!url || !whole) return std::nullopt;
  if (curl_url_set(url.get(), CURLUPART_URL, std::string(reference).c_str(), 0) != CURLUE_OK) return std::nullopt;
  return PartsOf(url) ? Part(url, CURLUPART_URL) : std::nullopt;
}

std::string PercentEncode(std::string_view text, std::string_view keep) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (IsUnreserved(c) || keep.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

// Without libcurl's parser: it gives no parts of a URL that it rejects, and that one may contain a password too.
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
