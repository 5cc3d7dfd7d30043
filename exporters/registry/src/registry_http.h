// RegistryHttp: requests to a registry, with its credentials, retries, redirects of downloads, and the token exchange
// of OCI registries.
#pragma once

#include <memory>
#include <string>

#include "breakwatch/core/result.h"
#include "breakwatch/exporters/registry.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

// Owner: a registry. Thread: the command's.
class RegistryHttp {
 public:
  // `base`: scheme, host and port: credentials are sent only there.
  RegistryHttp(RegistryOptions options, std::string base);

  const std::string& base() const { return base_; }
  const RegistryOptions& options() const { return options_; }
  // `url`: absolute, or a path below the base. Retries connection faults and 408, 429, 500, 502, 503 and 504. The
  // answer has any other status. Error: kUnavailable.
  Result<net::HttpResponse> Send(net::HttpRequest request);
  Result<net::HttpResponse> Get(const std::string& url, net::Headers headers = {}, std::size_t max_bytes = 16u << 20);
  // Downloads to a file, in chunks: if the server knows no ranges, at once. Nothing of it is kept in memory. Error:
  // kUnavailable; kInvalid if the answer is not what was asked for; kStore; kNotFound.
  Result<void> Download(const std::string& url, const std::string& path, std::int64_t bytes);

 private:
  Result<net::HttpResponse> SendOnce(net::HttpRequest request);
  // A GET that follows redirects.
  Result<net::HttpResponse> Follow(net::HttpRequest request);
  void SetLimits(net::HttpRequest& request) const;
  // Exchanges a Bearer challenge for a token. False: there is none, or the exchange failed.
  bool TakeToken(const net::HttpResponse& challenge);

  const RegistryOptions options_;
  const std::string base_;
  std::string token_;  // the registry's own, or exchanged
  std::unique_ptr<net::HttpSender> sender_;
};

// What an unexpected answer means: kNotFound for 404, else kUnavailable. Quotes the answer's body. `what`: "cannot push
// manifest.json to oci:...".
Error Unexpected(const net::HttpResponse& response, const std::string& what);

}  // namespace breakwatch::exporters
