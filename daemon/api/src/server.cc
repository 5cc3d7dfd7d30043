#include "breakwatch/api/server.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <system_error>
#include <thread>
#include <utility>

#include "breakwatch/api/control_socket.h"
#include "breakwatch/core/choices.h"
#include "breakwatch/core/exposition.h"
#include "breakwatch/core/host_port.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "breakwatch/core/threads.h"
#include "breakwatch/report/sweep.h"
#include "documents.h"
#include "framing.h"
#include "self_metrics.h"
#include "task_queue.h"
#include "untrusted_request.h"

namespace breakwatch::api {
namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kExposition = "text/plain; version=0.0.4; charset=utf-8";
constexpr int kKeepAliveS = 2;  // an idle connection delays the server's end this long
constexpr int kReadTimeoutS = 5, kWriteTimeoutS = 30, kMaxSweeps = 1000;

int HttpStatus(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kUsage:
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

void Send(httplib::Response& response, const Error& error) {
  response.status = HttpStatus(error);
  response.set_content(ErrorDocument(error), kJson);
}

void Send(httplib::Response& response, int status, const std::string& message) {
  response.status = status;
  response.set_content(ErrorDocument(status, message), kJson);
}

// Closes the connection of a request whose body is left unread, because nothing more can be read from it. The library
// closes a connection if its answer fails. So the content provider reports a failure after the last byte.
void SendAndClose(httplib::Response& response, const Refusal& refusal) {
  response.status = refusal.status;
  if (!refusal.allow.empty()) response.set_header("Allow", refusal.allow);
  response.set_header("Connection", "close");
  const std::string body = ErrorDocument(refusal.status, refusal.message);
  response.set_content_provider(body.size(), kJson, [body](std::size_t at, std::size_t size, httplib::DataSink& sink) {
    sink.write(body.data() + at, size);
    return false;
  });
}

// The message for a request that the library rejected.
std::string TextOf(const httplib::Request& request, int status) {
  if (status == 404) return "no such path: " + request.method + " " + ToUtf8(request.path);
  if (status == 414) return "the URL is too long";
  return "the request is malformed";
}

// True if a filter of a list is empty or one of `names`. Otherwise sends 400.
bool IsKnown(const httplib::Request& request, httplib::Response& response, const char* parameter,
             const std::vector<std::string_view>& names) {
  const std::string text = request.get_param_value(parameter);
  if (text.empty() || std::find(names.begin(), names.end(), text) != names.end()) return true;
  Send(response, 400, std::string(parameter) + " must be " + OneOf(names) + ", not \"" + ToUtf8(text) + "\"");
  return false;
}

std::vector<std::string_view> FamilyNames() {
  std::vector<std::string_view> names;
  for (const Family family : AllFamilies()) names.push_back(FamilyName(family));
  return names;
}
std::vector<std::string_view> StatusNames() {
  std::vector<std::string_view> names;
  for (const Status status : AllStatuses()) names.push_back(StatusName(status));
  return names;
}
std::vector<std::string_view> ModeNames() {
  std::vector<std::string_view> names(AllModes().begin(), AllModes().end());
  names.push_back(kImport);
  return names;
}

// A number in the query, or `fallback` if it is missing. If it is invalid, sends 400 and returns nullopt.
std::optional<std::size_t> Number(const httplib::Request& request, httplib::Response& response, const char* name,
                                  std::size_t fallback) {
  if (!request.has_param(name)) return fallback;
  const std::string text = request.get_param_value(name);
  std::size_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size()) return value;
  Send(response, 400, std::string(name) + " must be an integer, not \"" + text + "\"");
  return std::nullopt;
}

class HttpServer final : public Server {
 public:
  HttpServer(ServerOptions options, ServerParts parts) : options_(std::move(options)), parts_(std::move(parts)) {
    const auto max = static_cast<std::size_t>(std::max(1, options_.max_requests));
    server_.new_task_queue = [max] { return new TaskQueue(max); };
    server_.set_read_timeout(kReadTimeoutS, 0);
    server_.set_write_timeout(kWriteTimeoutS, 0);
    server_.set_keep_alive_timeout(kKeepAliveS);
    server_.set_payload_max_length(kMaxBodyBytes);
    server_.set_tcp_nodelay(true);
    // The library's default silently lets two servers share a port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    RouteOperations();
    RouteReads();
    RouteWrites();
    server_.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      const auto refusal = CheckFraming(request);
      if (!refusal) return httplib::Server::HandlerResponse::Unhandled;
      if (AnnouncesBody(request)) {
        SendAndClose(response, *refusal);
      } else {
        if (!refusal->allow.empty()) response.set_header("Allow", refusal->allow);
        Send(response, refusal->status, refusal->message);
      }
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
      const bool is_answered = !response.body.empty() || response.has_header("Connection");
      if (!is_answered) Send(response, response.status, TextOf(request, response.status));
    });
    server_.set_exception_handler(
        [](const auto&, httplib::Response& response, std::exception_ptr) { Send(response, 500, "internal error"); });
  }
  ~HttpServer() override {
    // The library ignores a stop before its loop starts.
    while (thread_.joinable() && !server_.is_running() && !ended_) std::this_thread::yield();
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> Listen() {
    const auto address = ParseHostPort(options_.listen_address);
    if (!address || !address->port) {
      return Error{ErrorCode::kConfig, "web.listen_address \"" + options_.listen_address + "\" is not HOST:PORT"};
    }
    const int port = *address->port == 0 ? server_.bind_to_any_port(address->host.c_str())
                     : server_.bind_to_port(address->host.c_str(), *address->port) ? *address->port
                                                                                   : -1;
    if (port < 0) {
      return Error{ErrorCode::kUnavailable, "cannot listen on " + options_.listen_address +
                                                ": in use, or not an address of this host; set web.listen_address"};
    }
    const bool v6 = address->host.find(':') != std::string::npos;
    address_ = (v6 ? "[" + address->host + "]" : address->host) + ":" + std::to_string(port);
    try {
      thread_ = std::thread([this] {
        server_.listen_after_bind();
        ended_ = true;
      });
    } catch (const std::system_error& error) {
      return CannotStartThread("the HTTP server's", error);
    }
    return {};
  }
  std::string Address() const override { return address_; }

 private:
  void RouteOperations() {
    server_.Get("/", [](const auto&, httplib::Response& response) {
      response.set_content(
          "breakwatch\n/metrics\n/metrics/models\n/api/v1/sweeps\n/api/v1/requests\n/api/v1/models\n/api/v1/reasons\n",
          "text/plain");
    });
    server_.Get("/-/healthy", [](const auto&, httplib::Response& r) { r.set_content("healthy\n", "text/plain"); });
    server_.Get("/-/ready", [this](const auto&, httplib::Response& response) {
      const auto held = parts_.held ? parts_.held() : Result<void>();
      const bool loaded = parts_.snapshot() != nullptr;
      response.status = loaded && held ? 200 : 503;
      response.set_content(!held    ? held.error().message + "\n"
                           : loaded ? "ready\n"
                                    : "the state is being loaded\n",
                           "text/plain");
    });
    server_.Get("/metrics", [this](const auto&, httplib::Response& response) {
      response.set_content(SelfMetrics(parts_, options_.version), kExposition);
    });
    server_.Get("/metrics/models", [this](const auto&, httplib::Response& response) {
      WithSnapshot(response, [&](const Snapshot& s) { response.set_content(Exposition(s), kExposition); });
    });
  }

  void RouteReads() {
    server_.Get("/api/v1/sweeps", [this](const httplib::Request& request, httplib::Response& response) {
      const auto limit = Number(request, response, "limit", 50);
      if (!limit) return;
      const auto sweeps = parts_.queries.Sweeps(static_cast<int>(std::min<std::size_t>(*limit, kMaxSweeps)));
      if (!sweeps) return Send(response, sweeps.error());
      response.set_content(List("sweeps", *sweeps), kJson);
    });
    server_.Get(R"(/api/v1/sweeps/([^/]+))", [this](const httplib::Request& request, httplib::Response& response) {
      const auto sweep = parts_.queries.FindSweep(request.matches[1]);
      if (!sweep) return Send(response, sweep.error());
      response.set_content(breakwatch::ToJson(*sweep) + "\n", kJson);
    });
    server_.Get(R"(/api/v1/sweeps/([^/]+)/results)",
                [this](const httplib::Request& request, httplib::Response& response) {
                  const auto sweep = parts_.queries.FindSweep(request.matches[1]);
                  if (!sweep) return Send(response, sweep.error());
                  const auto results = parts_.queries.Results(sweep->id);
                  if (!results) return Send(response, results.error());
                  response.set_content(List("results", *results), kJson);
                });
    server_.Get("/api/v1/requests", [this](const auto&, httplib::Response& response) {
      response.set_content(parts_.requests.List(), kJson);
    });
    server_.Get(R"(/api/v1/requests/([^/]+))", [this](const httplib::Request& request, httplib::Response& response) {
      const std::string id = request.matches[1];
      const auto found = parts_.requests.Find(id);
      if (!found) return Send(response, 404, "no request \"" + ToUtf8(id) + "\" among the newest 256");
      response.set_content(*found, kJson);
    });
    server_.Get("/api/v1/models", [this](const httplib::Request& request, httplib::Response& response) {
      ModelFilter filter{request.get_param_value("family"), request.get_param_value("reason"),
                         request.get_param_value("gb_id"), request.get_param_value("status"), 0};
      const auto limit = Number(request, response, "limit", 0);
      if (!limit || !IsKnown(request, response, "family", FamilyNames()) ||
          !IsKnown(request, response, "status", StatusNames())) {
        return;
      }
      filter.limit = *limit;
      WithSnapshot(response, [&](const Snapshot& s) { response.set_content(ModelsDocument(s, filter), kJson); });
    });
    server_.Get(R"(/api/v1/models/(.+))", [this](const httplib::Request& request, httplib::Response& response) {
      const std::string model = request.matches[1];
      if (!IsKnown(request, response, "mode", ModeNames())) return;
      const auto results = parts_.queries.ResultsOf(model);
      if (!results) return Send(response, results.error());
      const ModelResult* result =
          report::SelectResult(*results, request.get_param_value("mode"), request.get_param_value("toolchain"));
      if (result == nullptr) return Send(response, 404, "no such result of model \"" + model + "\"");
      response.set_content(report::RenderModel(*result, report::Format::kJson, {}, *results), kJson);
    });
    server_.Get("/api/v1/reasons", [this](const auto&, httplib::Response& response) {
      WithSnapshot(response, [&](const Snapshot& s) { response.set_content(ReasonsDocument(s), kJson); });
    });
  }

  void RouteWrites() {
    server_.Post("/api/v1/sweeps", [this](const httplib::Request& request, httplib::Response& response,
                                          const httplib::ContentReader& reader) {
      std::string body;
      if (!ReadBody(request, reader, body, response) || !Authorised(request, response)) return;
      auto sweep = SweepRequestFromJson(body.empty() ? "{}" : body, parts_.default_request());
      if (!sweep) return Send(response, sweep.error());
      if (auto checked = CheckUntrusted(*sweep, parts_.toolchains); !checked) return Send(response, checked.error());
      sweep->trigger = SweepTrigger::kApi;
      Enqueue(response, {Command::Kind::kSweep, {}, std::move(*sweep), {}});
    });
    server_.Post("/-/reload", [this](const httplib::Request& request, httplib::Response& response,
                                     const httplib::ContentReader& reader) {
      std::string body;
      if (!ReadBody(request, reader, body, response)) return;
      if (!options_.enable_lifecycle) return Send(response, 403, "disabled: set web.enable_lifecycle, or send SIGHUP");
      if (Authorised(request, response)) Enqueue(response, {Command::Kind::kReload, {}, {}, {}});
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

  template <class Value>
  static std::string List(const char* name, const std::vector<Value>& values) {
    std::string out = std::string("{\"") + name + "\": [";
    for (std::size_t i = 0; i < values.size(); ++i) out += (i == 0 ? "\n" : ",\n") + breakwatch::ToJson(values[i]);
    return out + "\n]}\n";
  }

  template <class Use>
  void WithSnapshot(httplib::Response& response, const Use& use) {
    const SnapshotPtr snapshot = parts_.snapshot();
    if (!snapshot) return Send(response, 503, "the state is being loaded");
    use(*snapshot);
  }

  bool Authorised(const httplib::Request& request, httplib::Response& response) const {
    if (options_.token.empty()) return Send(response, 403, "no token is configured: set web.token_file"), false;
    const std::string given = request.get_header_value("Authorization");
    const std::string wanted = "Bearer " + options_.token;
    if (given.size() == wanted.size() && CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0) return true;
    response.set_header("WWW-Authenticate", "Bearer");
    return Send(response, 401, "expected the token of web.token_file as a bearer token"), false;
  }

  void Enqueue(httplib::Response& response, Command command) {
    const bool is_sweep = command.kind == Command::Kind::kSweep;
    const auto id = parts_.requests.Add(is_sweep ? RequestLog::Kind::kSweep : RequestLog::Kind::kReload,
                                        !command.request.list.ids.empty());
    if (id) command.id = *id;
    if (!id || !parts_.commands.Push(std::move(command))) {
      if (id) parts_.requests.Withdraw(*id);
      response.set_header("Retry-After", "10");
      return Send(response, 503, "too many requests are waiting");
    }
    const std::string location = "/api/v1/requests/" + *id;
    response.status = 202;
    response.set_header("Location", location);
    response.set_content("{\"id\": \"" + *id + "\", \"request\": \"" + location + "\"}\n", kJson);
  }

  const ServerOptions options_;
  const ServerParts parts_;
  std::atomic<bool> ended_{false};
  httplib::Server server_;
  std::string address_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options, const ServerParts& parts) {
  auto server = std::make_unique<HttpServer>(options, parts);
  if (auto listening = server->Listen(); !listening) return listening.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace breakwatch::api
