// Service: a request to its reply, without sockets: the host, the contract, the token, the handler, the ETag.
#pragma once

#include <httplib.h>

#include <map>
#include <optional>
#include <string>

#include "framing.h"
#include "handlers.h"

namespace breakwatch::api {

// Thread: any.
class Service {
 public:
  Service(ServerOptions options, ServerParts parts);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Why a request is refused before a byte of its body is read; nullopt: it is not.
  std::optional<Refusal> Refuse(const httplib::Request& request) const;
  // 405, if the path exists and does not take this method.
  std::optional<Refusal> RefuseMethod(const std::string& method, const std::string& path) const;
  // Of a request that is not refused.
  Reply Serve(const httplib::Request& request, const std::string& body);
  // Whether it asks for the stream of events, not for the events so far as JSON.
  bool IsEventStream(const httplib::Request& request) const;

  const ServerOptions& options() const { return options_; }
  const ServerParts& parts() const { return parts_; }

 private:
  std::optional<Reply> CheckToken(const httplib::Request& request) const;
  Reply Handle(const Operation& operation, const Arguments& path, const httplib::Request& request,
               const std::string& body);

  const ServerOptions options_;
  const ServerParts parts_;
  SiteIndex sites_;
  ModelMetrics metrics_;
  Context context_;
  std::map<std::string_view, Handler> handlers_;  // by operation
};

// What every response has: no content type is guessed, nothing is embedded, and nothing may embed it.
httplib::Headers CommonHeaders();

}  // namespace breakwatch::api
