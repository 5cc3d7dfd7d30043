#include "guarded_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace breakwatch::hub_replay {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kMaxRequests = 1000;  // per connection

// True while the acceptor handles a connection that found the queue full: it gets status 503.
thread_local bool refusing = false;

// A fixed number of threads and a bounded queue. If the queue is full, the accepting thread rejects the connection.
class BoundedQueue : public httplib::TaskQueue {
 public:
  // `waiting` must outlive the queue. It counts the waiting tasks.
  BoundedQueue(std::size_t threads, std::size_t queued, std::atomic<std::size_t>& waiting)
      : queued_(queued), waiting_(waiting) {
    try {
      for (std::size_t i = 0; i < std::max<std::size_t>(1, threads); ++i) threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      // Uses as many threads as the limit allows. Without any thread, every request gets status 503.
    }
  }

  void enqueue(std::function<void()> task) override {
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.size() < queued_ && !threads_.empty()) {
        tasks_.push_back(std::move(task));
        waiting_ = tasks_.size();
        wake_.notify_one();
        return;
      }
    }
    refusing = true;
    task();
    refusing = false;
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void Work() {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
        waiting_ = tasks_.size();
      }
      task();
    }
  }

  const std::size_t queued_;
  std::atomic<std::size_t>& waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

// One connection. Each request has its own deadline and byte count.
class CountingStream : public httplib::Stream {
 public:
  // `stopping` ends every wait for the client.
  CountingStream(socket_t socket, const Guards& guards, std::function<bool()> stopping)
      : socket_(socket), guards_(guards), stopping_(std::move(stopping)) {
    NewRequest();
  }

  void NewRequest() {
    left_ = guards_.max_header_bytes + guards_.max_body_bytes;
    header_left_ = guards_.max_header_bytes;
    matched_ = 0;
    deadline_ = Steady::now() + guards_.request_timeout;
  }

  // Waits for the first byte of the next request. Waits in short steps, to check `must_go`.
  bool AwaitRequest(const std::function<bool()>& must_go) {
    const auto until = Steady::now() + guards_.idle_timeout;
    while (begin_ == end_ && !must_go()) {
      if (Steady::now() >= until) return false;
      if (Poll(POLLIN, std::min(until, Steady::now() + kSlice))) return true;
    }
    return begin_ != end_;
  }

  bool is_readable() const override { return begin_ != end_ || Await(POLLIN, deadline_); }
  bool is_writable() const override { return Await(POLLOUT, Steady::now() + guards_.write_timeout); }

  ssize_t read(char* out, std::size_t size) override {
    if (begin_ == end_ && !Fill()) return -1;
    size = std::min({size, end_ - begin_, left_, InHeader() ? header_left_ : left_});
    if (size == 0) return -1;  // too long
    if (InHeader()) size = CountHeader(size);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), size, out);
    begin_ += size;
    left_ -= size;
    return static_cast<ssize_t>(size);
  }

  ssize_t write(const char* bytes, std::size_t size) override {
    if (!is_writable()) return -1;
    return ::send(socket_, bytes, size, MSG_NOSIGNAL);
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override { Name(::getpeername, ip, port); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { Name(::getsockname, ip, port); }
  socket_t socket() const override { return socket_; }

 private:
  static constexpr std::string_view kEnd = "\r\n\r\n";
  static constexpr std::chrono::milliseconds kSlice{50};

  bool InHeader() const { return matched_ < kEnd.size(); }

  // Counts up to the end of the header and returns no byte beyond it, because the body has its own limit.
  std::size_t CountHeader(std::size_t size) {
    std::size_t counted = 0;
    while (counted < size && InHeader()) {
      const char c = buffer_[begin_ + counted++];
      matched_ = c == kEnd[matched_] ? matched_ + 1 : c == '\r' ? 1 : 0;
    }
    header_left_ -= counted;
    if (!InHeader()) left_ = counted + guards_.max_body_bytes;
    return counted;
  }

  bool Fill() {
    if (!Await(POLLIN, deadline_)) return false;
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    begin_ = 0;
    end_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return got > 0;
  }

  bool Await(short what, Steady::time_point until) const {
    while (!Poll(what, std::min(until, Steady::now() + kSlice))) {
      if (stopping_() || Steady::now() >= until) return false;
    }
    return true;
  }

  bool Poll(short what, Steady::time_point until) const {
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - Steady::now()).count();
    pollfd entry{socket_, what, 0};
    return ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(0, wait))) == 1;
  }

  void Name(int (*ask)(int, sockaddr*, socklen_t*), std::string& ip, int& port) const {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (ask(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return;
    if (address.ss_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
      ip = ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
      port = ntohs(v4->sin_port);
    } else if (address.ss_family == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
      ip = ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
      port = ntohs(v6->sin6_port);
    }
  }

  const socket_t socket_;
  const Guards& guards_;
  const std::function<bool()> stopping_;
  std::array<char, 4096> buffer_{};
  std::size_t begin_ = 0, end_ = 0;  // unread bytes of buffer_
  std::size_t left_ = 0, header_left_ = 0;
  std::size_t matched_ = 0;  // bytes of kEnd seen in a row
  Steady::time_point deadline_;
};

}  // namespace

GuardedServer::GuardedServer(const Guards& guards) : guards_(guards) {
  new_task_queue = [this] { return new BoundedQueue(guards_.threads, guards_.queued, waiting_); };
  set_keep_alive_timeout(std::chrono::ceil<std::chrono::seconds>(guards.idle_timeout).count());
  set_keep_alive_max_count(kMaxRequests);
  set_payload_max_length(guards.max_body_bytes);
  set_tcp_nodelay(true);
  // The library's default, SO_REUSEPORT, would silently share a port with another server.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
}

bool GuardedServer::process_and_close_socket(socket_t socket) {
  if (refusing) {
    constexpr std::string_view kBusy =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    (void)!::send(socket, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(socket);
    return false;
  }
  const auto stopping = [this] { return svr_sock_ == INVALID_SOCKET; };
  CountingStream stream(socket, guards_, stopping);
  std::size_t served = 0;
  // If a connection waits, an idle one closes at once, and a busy one closes after its answer.
  const auto must_go = [&] { return stopping() || (served > 0 && waiting_ > 0); };
  bool closed = false;
  while (!closed && stream.AwaitRequest(must_go)) {
    stream.NewRequest();
    const bool last = stopping() || ++served == kMaxRequests || waiting_ > 0;
    const auto adjust = [](httplib::Request& request) {
      // This server handles ranges itself: the library would also apply them to error pages.
      request.ranges.clear();
      // Brotli at its highest level takes seconds for a page of models.
      const bool gzip = request.get_header_value("Accept-Encoding").find("gzip") != std::string::npos;
      request.headers.erase("Accept-Encoding");
      if (gzip) request.set_header("Accept-Encoding", "gzip");
    };
    if (!process_request(stream, last, closed, adjust) || last) break;
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return true;
}

}  // namespace breakwatch::hub_replay
