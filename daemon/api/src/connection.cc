#include "connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace breakwatch::api {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Connection::~Connection() {
  if (fd_ >= 0) close(fd_);
}

void Connection::EndReading() const { (void)shutdown(fd_, SHUT_RD); }
void Connection::Abort() const { (void)shutdown(fd_, SHUT_RDWR); }

void Connection::Finish() {
  constexpr int kMostReads = 64;
  char ignored[16 * 1024];
  (void)shutdown(fd_, SHUT_WR);
  for (int i = 0; i < kMostReads && recv(fd_, ignored, sizeof ignored, MSG_DONTWAIT) > 0; ++i) {
  }
}

int Connection::Release(std::string& bytes) {
  bytes = bytes_.substr(taken_);
  return std::exchange(fd_, -1);
}

bool Connection::WaitFor(short events, milliseconds time) const {
  const auto until = steady_clock::now() + time;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    pollfd descriptor{fd_, events, 0};
    const int ready = poll(&descriptor, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

bool Connection::is_readable() const { return taken_ < bytes_.size() || WaitFor(POLLIN, milliseconds(0)); }
bool Connection::is_writable() const {
  const auto left = std::chrono::ceil<milliseconds>(last_write_ - steady_clock::now());
  return left > milliseconds(0) && WaitFor(POLLOUT, std::min(left, kWritePatience));
}

ssize_t Connection::read(char* to, std::size_t size) {
  if (taken_ < bytes_.size()) {
    const std::size_t given = std::min(size, bytes_.size() - taken_);
    std::memcpy(to, bytes_.data() + taken_, given);
    taken_ += given;
    return static_cast<ssize_t>(given);
  }
  // The library reads header lines byte by byte.
  constexpr std::size_t kAtOnce = 16 * 1024;
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - steady_clock::now());
  if (left <= milliseconds(0) || !WaitFor(POLLIN, std::min(left, kReadPause))) return -1;
  bytes_.resize(kAtOnce);
  ssize_t got = -1;
  do {
    got = recv(fd_, bytes_.data(), bytes_.size(), 0);
  } while (got < 0 && errno == EINTR);
  bytes_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  taken_ = 0;
  return got <= 0 ? got : read(to, size);
}

ssize_t Connection::write(const char* from, std::size_t size) {
  while (true) {
    if (!is_writable()) return -1;
    const ssize_t sent = send(fd_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0 || (errno != EINTR && errno != EAGAIN)) return sent;
  }
}

}  // namespace breakwatch::api
