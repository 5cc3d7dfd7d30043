#include "service.h"

#include <openssl/crypto.h>

#include <utility>

#include "breakwatch/core/text.h"
#include "contract.h"
#include "hosts.h"
#include "page_reply.h"
#include "quoted.h"

namespace breakwatch::api {
namespace {

constexpr std::size_t kTagDigits = 20;

std::string TagOf(const std::string& body) { return "W/\"" + Sha256Hex(body).substr(0, kTagDigits) + "\""; }

// Whether the client has the document already: RFC 9110, 13.1.2. The comparison is a weak one.
bool HasCopy(const httplib::Request& request, const std::string& tag) {
  const std::string known = request.get_header_value("If-None-Match");
  return known == "*" || known.find(tag.substr(2)) != std::string::npos;
}

// Answers 304 instead of a document that the client has.
void AddTag(const httplib::Request& request, Reply& reply) {
  if (reply.status != 200 || reply.type != kJson) return;
  const std::string tag = TagOf(reply.body);
  reply.headers["ETag"] = tag;
  reply.headers["Cache-Control"] = "no-cache";
  if (!HasCopy(request, tag)) return;
  reply.status = 304;
  reply.body.clear();
}

}  // namespace

httplib::Headers CommonHeaders() {
  return {{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Vary", "Accept-Encoding"}};
}

Service::Service(ServerOptions options, ServerParts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      sites_(parts_.queries),
      context_{options_, parts_, sites_, metrics_} {
  for (const Binding& binding : Bindings()) handlers_[binding.operation] = binding.handler;
}

std::optional<Refusal> Service::Refuse(const httplib::Request& request) const {
  if (auto refusal = CheckLength(request)) return refusal;
  if (request.get_header_value_count("Host") > 1) return Refusal{400, "the request has more than one Host"};
  if (const std::string host = request.get_header_value("Host"); !IsOwnHost(host, options_.allowed_hosts))
    return Refusal{421, "host " + Quoted(host) + " is no name of this daemon; add it to web.allowed_hosts"};
  if (IsOfPage(request)) return CheckBody(request);
  if (auto refusal = RefuseMethod(request.method, request.path)) return refusal;
  if (!Contract::Get().Find(request.method, request.path).operation)
    return Refusal{404, "no such path: " + request.method + " " + Truncate(ToUtf8(request.path), 200)};
  return CheckBody(request);
}

std::optional<Refusal> Service::RefuseMethod(const std::string& method, const std::string& path) const {
  const auto match = Contract::Get().Find(method, path);
  if (match.operation != nullptr || match.allow.empty()) return std::nullopt;
  return Refusal{405, Truncate(ToUtf8(method), 40) + " is not allowed here; use " + match.allow, match.allow};
}

bool Service::IsEventStream(const httplib::Request& request) const {
  const auto match = Contract::Get().Find(request.method, request.path);
  if (request.method != "GET" || match.operation == nullptr || match.operation->id != kEventStream) return false;
  const std::string accept = request.get_header_value("Accept");
  return accept.find("application/json") == std::string::npos || accept.find("text/event-stream") != std::string::npos;
}

std::optional<Reply> Service::CheckToken(const httplib::Request& request) const {
  if (options_.read_only)
    return Problem(403, "this server only reads the store: start `breakwatch serve` to request a sweep");
  if (options_.token.empty()) return Problem(403, "no token is configured: set web.token_file");
  const std::string given = request.get_header_value("Authorization");
  const std::string wanted = "Bearer " + options_.token;
  if (given.size() == wanted.size() && CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0) return {};
  Reply reply = Problem(401, "expected the token of web.token_file as a bearer token");
  reply.headers["WWW-Authenticate"] = "Bearer";
  return reply;
}

Reply Service::Handle(const Operation& operation, const Arguments& path, const httplib::Request& request,
                      const std::string& body) {
  if (operation.needs_token) {
    if (auto refused = CheckToken(request)) return *std::move(refused);
  }
  const std::multimap<std::string, std::string> query(request.params.begin(), request.params.end());
  auto arguments = CheckArguments(operation, path, query);
  if (!arguments) return Problem(arguments.error());
  const auto handler = handlers_.find(operation.id);
  if (handler == handlers_.end()) return Problem(500, "operation " + operation.id + " has no handler");
  return handler->second(context_, Call{operation, *std::move(arguments), body});
}

Reply Service::Serve(const httplib::Request& request, const std::string& body) {
  if (auto reply = PageReply(request)) return *std::move(reply);
  const auto match = Contract::Get().Find(request.method, request.path);
  if (match.operation == nullptr) return Problem(404, "no such path");
  Reply reply = Handle(*match.operation, match.path, request, body);
  AddTag(request, reply);
  if (reply.packed && request.has_header("Accept-Encoding")) reply.headers["Content-Encoding"] = "gzip";
  return reply;
}

}  // namespace breakwatch::api
