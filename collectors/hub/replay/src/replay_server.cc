#include "breakwatch/hub_replay/replay_server.h"

#include <csignal>
#include <cstdio>
#include <system_error>
#include <thread>

#include "breakwatch/core/printable.h"
#include "breakwatch/core/threads.h"
#include "guarded_server.h"
#include "hub.h"

namespace breakwatch::hub_replay {
namespace {

Request FromLibrary(const httplib::Request& from) {
  Request request;
  request.method = from.method;
  request.target = from.target;
  for (const auto& [name, value] : from.headers) request.headers.emplace_back(name, value);
  request.body = from.body;
  request.peer = from.remote_addr;
  return request;
}

void IntoLibrary(Answer answer, httplib::Response& to) {
  to.status = answer.status;
  for (const auto& [name, value] : answer.headers) to.set_header(name, value);
  if (!answer.body.empty()) to.set_content(answer.body, answer.content_type);
}

class Server : public ReplayServer {
 public:
  Server(Recording recording, const ReplayOptions& options, const Clock& clock)
      : hub_(std::move(recording), options.link_endpoint, clock),
        server_({options.threads, options.queued_connections, options.max_header_bytes, options.max_body_bytes,
                 options.request_timeout, options.write_timeout, options.idle_timeout}) {
    host_ = options.host;
    const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
      IntoLibrary(hub_.Handle(FromLibrary(request)), response);
    };
    const std::string any = ".*";
    server_.Get(any, handle)
        .Post(any, handle)
        .Put(any, handle)
        .Patch(any, handle)
        .Delete(any, handle)
        .Options(any, handle);
  }

  ~Server() override { Stop(); }

  Result<void> Listen(int port) {
    port_ = port == 0 ? server_.bind_to_any_port(host_) : (server_.bind_to_port(host_, port) ? port : -1);
    if (port_ <= 0) {
      return Error{ErrorCode::kUnavailable, "cannot listen on " + host_ + ":" + std::to_string(port) +
                                                ": the port is in use, or the address is not of this machine"};
    }
    try {
      thread_ = std::thread([this] { server_.listen_after_bind(); });
    } catch (const std::system_error& error) {
      Error failed = CannotStartThread("the server's", error);
      failed.code = ErrorCode::kUnavailable;
      return failed;
    }
    // The library ignores a stop before it listens.
    while (!server_.is_running()) std::this_thread::yield();
    return {};
  }

  void Stop() override {
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
  }

  int port() const override { return port_; }
  std::size_t models() const override { return hub_.recording().models().size(); }

 private:
  Hub hub_;
  GuardedServer server_;
  int port_ = 0;
  std::thread thread_;
};

int ExitCode(const Error& error) {
  return error.code == ErrorCode::kUnavailable ? 1 : 64;  // a port in use is not a usage error; a wrong folder is
}

}  // namespace

std::string ReplayServer::url() const {
  const std::string host = host_.find(':') == std::string::npos ? host_ : "[" + host_ + "]";
  return "http://" + host + ":" + std::to_string(port());
}

Result<std::unique_ptr<ReplayServer>> ReplayServer::Start(const ReplayOptions& options, const Clock& clock) {
  auto recording = Recording::Load(options.dir);
  if (!recording) return recording.error();
  auto server = std::make_unique<Server>(*std::move(recording), options, clock);
  if (auto listening = server->Listen(options.port); !listening) return listening.error();
  return std::unique_ptr<ReplayServer>(std::move(server));
}

int ServeMain(const ReplayOptions& options, const std::function<void(const std::string& url)>& on_ready) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction now {};
    // A signal that was ignored at the start stays ignored: sigwait would take it.
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_IGN) sigaddset(&signals, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const auto server = ReplayServer::Start(options);
  if (!server) {
    std::fprintf(stderr, "breakwatch hub serve: %s\n", Printable(server.error().message).c_str());
    return ExitCode(server.error());
  }
  std::printf("Serving %zu models of %s on %s (HF_ENDPOINT=%s)\n", (*server)->models(), Printable(options.dir).c_str(),
              (*server)->url().c_str(), (*server)->url().c_str());
  std::fflush(stdout);
  if (on_ready) on_ready((*server)->url());
  int signal = 0;
  sigwait(&signals, &signal);
  (*server)->Stop();
  return 0;
}

}  // namespace breakwatch::hub_replay
