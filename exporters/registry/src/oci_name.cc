#include "oci_name.h"

#include <algorithm>

#include "breakwatch/core/host_port.h"
#include "breakwatch/net/url.h"

namespace breakwatch::exporters {
namespace {

constexpr std::size_t kMaxRepository = 255, kMaxTag = 128;

Error Invalid(const std::string& text) {
  return {ErrorCode::kUsage, "\"" + text +
                                 "\" is no OCI repository; expected HOST[:PORT]/REPOSITORY[:TAG], as in "
                                 "registry.example:5000/models/bert:latest"};
}

bool IsRepository(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '/';
  };
  return !text.empty() && text.size() <= kMaxRepository && std::all_of(text.begin(), text.end(), allowed) &&
         text.front() != '/' && text.back() != '/' && text.find("//") == text.npos && text.find("..") == text.npos;
}

bool IsTag(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  };
  return text.size() <= kMaxTag && std::all_of(text.begin(), text.end(), allowed) && !text.starts_with('.') &&
         !text.starts_with('-');
}

}  // namespace

Result<OciName> ParseOciName(const std::string& text) {
  const std::size_t scheme = text.find("://");
  const std::string rest = scheme == std::string::npos ? text : text.substr(scheme + 3);
  const std::size_t slash = rest.find('/');
  if (slash == std::string::npos || slash == 0) return Invalid(text);
  OciName name;
  name.host = rest.substr(0, slash);
  name.repository = rest.substr(slash + 1);
  if (const std::size_t colon = name.repository.rfind(':'); colon != std::string::npos) {
    name.tag = name.repository.substr(colon + 1);
    name.repository.resize(colon);
    if (name.tag.empty()) return Invalid(text);
  }
  const auto parsed = net::ParseUrl("http://" + name.host);
  if (!parsed || parsed->has_user || !IsRepository(name.repository) || !IsTag(name.tag)) return Invalid(text);
  const std::string guessed = IsLoopback(parsed->host) ? "http" : "https";
  name.base = (scheme == std::string::npos ? guessed : text.substr(0, scheme)) + "://" + name.host;
  if (!net::ParseUrl(name.base)) return Invalid(text);
  return name;
}

}  // namespace breakwatch::exporters
