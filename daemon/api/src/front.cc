#include "front.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "breakwatch/core/host_port.h"
#include "breakwatch/core/threads.h"
#include "call.h"

namespace breakwatch::api {
namespace {

constexpr int kPauseWithoutDescriptorsMs = 100;

// The stream that the handler on this thread asked for.
thread_local std::optional<std::string> wanted_stream;  // NOLINT: the library passes nothing of ours to a handler

thread_local bool ends_connection = false;  // NOLINT: as above. The handler on this thread asked for it

// gzip or nothing: the library would prefer brotli, at its slowest level.
void ChooseEncoding(httplib::Request& request) {
  const bool gzip = request.get_header_value("Accept-Encoding").find("gzip") != std::string::npos;
  request.headers.erase("Accept-Encoding");
  if (gzip) request.headers.emplace("Accept-Encoding", "gzip");
}

// Answers a client whose request nothing takes. Best effort, because this must not block.
void RefuseAtOnce(const Connection& connection) {
  const std::string body = ProblemDocument(503, "too many requests are waiting");
  const std::string answer = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: " + std::string(kProblem) +
                             "\r\nContent-Length: " + std::to_string(body.size()) +
                             "\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" + body;
  [[maybe_unused]] const auto sent =
      send(connection.socket(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

Front::Front(std::size_t max_requests, EventFeed& feed, StreamBounds streams)
    : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), streams_(feed, streams) {
  set_tcp_nodelay(true);
  // What the library states to clients; the lobby waits.
  set_keep_alive_timeout(std::chrono::duration_cast<std::chrono::seconds>(LobbyOptions{}.idle).count());
  set_keep_alive_max_count(1000);
  // The library's default silently lets two servers share a port.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  workers_.emplace(max_requests, max_requests * kWaitingPerWorker);
  operations_.emplace(kOperationThreads, max_requests * kWaitingPerWorker);
}

Front::~Front() {
  acceptor_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
  if (acceptor_.joinable()) acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  lobby_.reset();
  {
    // A client that asked why this process ends gets its answer whole.
    std::unique_lock lock(mutex_);
    for (const Connection* connection : busy_) connection->EndReading();
    answered_.wait_for(lock, kLastAnswers, [this] { return busy_.empty(); });
    for (const Connection* connection : busy_) connection->Abort();
  }
  operations_.reset();
  workers_.reset();
  if (const socket_t listening = svr_sock_.exchange(INVALID_SOCKET); listening != INVALID_SOCKET) close(listening);
  close(wake_);
}

Result<std::string> Front::Start(const std::string& listen_address) {
  const auto address = ParseHostPort(listen_address);
  if (!address || !address->port) {
    return Error{ErrorCode::kConfig, "web.listen_address \"" + listen_address + "\" is not HOST:PORT"};
  }
  const std::string host = address->host.empty() ? "0.0.0.0" : address->host;
  const int port = *address->port == 0                  ? bind_to_any_port(host)
                   : bind_to_port(host, *address->port) ? *address->port
                                                        : -1;
  if (port < 0) {
    return Error{ErrorCode::kUnavailable, "cannot listen on " + listen_address +
                                              ": in use, or not an address of this host; set web.listen_address"};
  }
  try {
    lobby_.emplace(LobbyOptions{}, [this](std::unique_ptr<Connection> connection, bool operations) {
      HandOut(std::move(connection), operations);
    });
    acceptor_ = std::jthread([this](const std::stop_token& stop) {
      pthread_setname_np(pthread_self(), "http-accept");
      Accept(stop);
    });
  } catch (const std::system_error& error) {
    return CannotStartThread("the HTTP server's", error);
  }
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

void Front::Accept(const std::stop_token& stop) {
  pollfd descriptors[] = {{wake_, POLLIN, 0}, {svr_sock_, POLLIN, 0}};
  while (!stop.stop_requested()) {
    if (poll(descriptors, 2, -1) < 0 || (descriptors[1].revents & POLLIN) == 0) continue;
    const int fd = accept4(svr_sock_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      // Without a free descriptor the connection stays in the kernel's queue.
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) poll(descriptors, 1, kPauseWithoutDescriptorsMs);
      continue;
    }
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    lobby_->Add(fd, {}, /*is_new=*/true);
  }
}

void Front::HandOut(std::unique_ptr<Connection> connection, bool operations) {
  const std::shared_ptr<Connection> shared = std::move(connection);
  Workers& workers = operations ? *operations_ : *workers_;
  if (!workers.Submit([this, shared] { Serve(*shared); })) RefuseAtOnce(*shared);
}

bool Front::MakeStream(std::string last_id) {
  if (!streams_.Take()) return false;
  wanted_stream = std::move(last_id);
  return true;
}

void Front::EndConnection() { ends_connection = true; }

void Front::Serve(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    busy_.insert(&connection);
  }
  connection.Begin();
  wanted_stream.reset();
  ends_connection = false;
  bool closed = false;
  const bool answered = process_request(connection, /*close_connection=*/false, closed, ChooseEncoding);
  bool stays = answered && (wanted_stream || !(closed || ends_connection));
  // Locked to the end: the destructor ends the lobby only when nothing more comes to it.
  const std::lock_guard lock(mutex_);
  busy_.erase(&connection);
  if (stopping_) answered_.notify_all();
  stays = stays && !stopping_;
  if (wanted_stream && !stays) streams_.GiveBack();
  if (!stays) return connection.Finish();
  std::string bytes;
  const int fd = connection.Release(bytes);
  if (wanted_stream) {
    streams_.Add(fd, *wanted_stream);
  } else {
    lobby_->Add(fd, std::move(bytes), /*is_new=*/false);
  }
}

}  // namespace breakwatch::api
