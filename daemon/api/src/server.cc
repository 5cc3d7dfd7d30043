#include "breakwatch/api/server.h"

#include <algorithm>
#include <utility>

#include "breakwatch/core/text.h"
#include "front.h"
#include "service.h"

namespace breakwatch::api {
namespace {

// In pieces: the body is shared by all who get it, and may be longer than the memory that is left.
void SendPacked(httplib::Response& response, const Reply& reply) {
  const auto& packed = reply.packed;
  if (reply.headers.contains("Content-Encoding")) {
    return response.set_content_provider(packed->size(), reply.type,
                                         [packed](std::size_t at, std::size_t length, httplib::DataSink& sink) {
                                           const std::string_view piece = packed->From(at).substr(0, length);
                                           return !piece.empty() && sink.write(piece.data(), piece.size());
                                         });
  }
  auto reader = std::make_shared<TextReader>(packed);
  response.set_content_provider(packed->text_bytes(), reply.type,
                                [reader](std::size_t at, std::size_t length, httplib::DataSink& sink) {
                                  const std::string_view piece = reader->From(at).substr(0, length);
                                  return !piece.empty() && sink.write(piece.data(), piece.size());
                                });
}

void Send(httplib::Response& response, Reply reply) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) {
    response.headers.erase(name);  // a default one
    response.set_header(name, value);
  }
  if (reply.status == 304) return;
  if (reply.packed) return SendPacked(response, reply);
  if (!reply.headers.contains("Content-Encoding")) return response.set_content(std::move(reply.body), reply.type);
  // The library would compress it a second time.
  const std::size_t size = reply.body.size();
  response.set_content_provider(
      size, reply.type, [body = std::move(reply.body)](std::size_t at, std::size_t length, httplib::DataSink& sink) {
        return sink.write(body.data() + at, length);
      });
}

// Closes the connection of a request whose body is left unread: what follows would be read as the next request.
void SendAndClose(httplib::Response& response, const Refusal& refusal) {
  if (!refusal.allow.empty()) response.set_header("Allow", refusal.allow);
  Front::EndConnection();
  Reply reply = Problem(refusal.status, refusal.message);
  reply.headers["Connection"] = "close";
  Send(response, std::move(reply));
}

// The message for a request that the library rejected.
std::string TextOf(const httplib::Request& request, int status) {
  if (status == 404) return "no such path: " + request.method + " " + ToUtf8(request.path);
  if (status == 414) return "the URL is too long";
  return "the request is malformed";
}

class HttpServer final : public Server {
 public:
  HttpServer(const ServerOptions& options, ServerParts parts)
      : service_(options, std::move(parts)),
        front_(static_cast<std::size_t>(std::max(1, options.max_requests)), service_.parts().feed, options.streams) {
    front_.set_payload_max_length(kMaxBodyBytes);
    front_.set_default_headers(CommonHeaders());
    front_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) { return Route(request, response); });
    front_.Post("/.*", [this](const httplib::Request& request, httplib::Response& response,
                              const httplib::ContentReader& reader) {
      std::string body;
      if (ReadBody(request, reader, body, response)) Send(response, service_.Serve(request, body));
    });
    front_.set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
      const bool is_answered = !response.body.empty() || response.has_header("Connection");
      if (!is_answered) Reject(request, response);
    });
    front_.set_exception_handler([](const auto&, httplib::Response& response, std::exception_ptr) {
      Send(response, Problem(500, "internal error"));
    });
  }

  Result<void> Listen() {
    auto address = front_.Start(service_.options().listen_address);
    if (!address) return address.error();
    address_ = *std::move(address);
    return {};
  }
  std::string Address() const override { return address_; }

 private:
  using Handler = httplib::Server::HandlerResponse;

  // The library rejected the request, perhaps before it read the headers: what follows is no request.
  void Reject(const httplib::Request& request, httplib::Response& response) {
    const auto unknown = service_.RefuseMethod(request.method, request.target.substr(0, request.target.find('?')));
    Front::EndConnection();
    if (response.status != 400 || !unknown)
      return Send(response, Problem(response.status, TextOf(request, response.status)));
    response.set_header("Allow", unknown->allow);
    Send(response, Problem(unknown->status, unknown->message));
  }

  // Answers everything that has no body.
  Handler Route(const httplib::Request& request, httplib::Response& response) {
    if (const auto refusal = service_.Refuse(request)) {
      if (AnnouncesBody(request)) {
        SendAndClose(response, *refusal);
      } else {
        if (!refusal->allow.empty()) response.set_header("Allow", refusal->allow);
        Send(response, Problem(refusal->status, refusal->message));
      }
      return Handler::Handled;
    }
    if (request.method == "POST") return Handler::Unhandled;
    if (service_.IsEventStream(request)) {
      Stream(request, response);
    } else {
      Send(response, service_.Serve(request, ""));
    }
    return Handler::Handled;
  }

  // Sends the head of the response; the connection is then a stream of events.
  void Stream(const httplib::Request& request, httplib::Response& response) {
    if (!front_.MakeStream(request.get_header_value("Last-Event-ID"))) {
      Reply reply = Problem(503, "there are too many streams of events");
      reply.headers["Retry-After"] = "30";
      return Send(response, std::move(reply));
    }
    response.set_header("Cache-Control", "no-store");
    response.set_content_provider("text/event-stream", [](std::size_t, httplib::DataSink& sink) {
      sink.done();
      return true;
    });
  }

  // Reads the whole body; on failure, sends an error and returns false. Uses a reader, because the library does not
  // limit a chunked body. The library also waits for a body that is not announced: `curl -X POST` sends none (RFC 9112,
  // 6.3).
  static bool ReadBody(const httplib::Request& request, const httplib::ContentReader& reader, std::string& body,
                       httplib::Response& response) {
    if (!AnnouncesBody(request)) return true;
    const bool read = reader([&](const char* data, std::size_t size) {
      body.append(data, size);
      return body.size() <= kMaxBodyBytes;
    });
    if (read) return true;
    const bool too_long = body.size() > kMaxBodyBytes;
    SendAndClose(response, too_long ? Refusal{413, "the body is longer than 64 KiB"}
                                    : Refusal{400, "the body is incomplete or unreadable"});
    return false;
  }

  Service service_;
  Front front_;  // last: its threads use the service
  std::string address_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options, const ServerParts& parts) {
  auto server = std::make_unique<HttpServer>(options, parts);
  if (auto listening = server->Listen(); !listening) return listening.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace breakwatch::api
