#include "lobby.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "breakwatch/core/text.h"
#include "framing.h"
#include "problem.h"

namespace breakwatch::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The value of a header in the bytes of a head; empty if it is absent.
std::string_view HeaderIn(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at + 2)) {
    const std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    if (line.size() > name.size() && line[name.size()] == ':' && Lower(line.substr(0, name.size())) == name)
      return Trim(line.substr(name.size() + 1));
  }
  return {};
}

// Bytes of body to wait for. 0: the worker decides, because there is none, it is refused, or its end is not announced.
std::size_t BodyBytes(std::string_view head) {
  const std::string_view text = HeaderIn(head, "content-length");
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  const bool is_number = !text.empty() && error == std::errc{} && end == text.data() + text.size();
  return is_number && length <= kMaxBodyBytes && HeaderIn(head, "expect").empty() ? length : 0;
}

}  // namespace

Lobby::Lobby(LobbyOptions options, Ready ready)
    : options_(options),
      ready_(std::move(ready)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "http-lobby");
        Run(stop);
      }) {}

Lobby::~Lobby() {
  thread_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
  thread_.join();
  for (Guests* guests : {&arriving_, &guests_}) {
    for (const Guest& guest : *guests) close(guest.fd);
  }
  close(wake_);
}

void Lobby::Add(int fd, std::string bytes, bool is_new) {
  const std::lock_guard lock(mutex_);
  if (count_ >= options_.max_connections) {
    close(fd);
    return;
  }
  ++count_;
  const auto now = steady_clock::now();
  const bool began = !bytes.empty();
  arriving_.push_back({fd, std::move(bytes), now + (is_new || began ? options_.patience : options_.idle), began});
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void Lobby::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> descriptors{{wake_, POLLIN, 0}};
    for (const Guest& guest : guests_) descriptors.push_back({guest.fd, POLLIN, 0});
    if (poll(descriptors.data(), descriptors.size(), static_cast<int>(NextEnd().count())) < 0 && errno != EINTR) return;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wake_, &count, sizeof count);
    std::size_t left = 0;
    std::size_t at = 1;
    for (auto guest = guests_.begin(); guest != guests_.end(); ++at) {
      bool stays = true;
      if (descriptors[at].revents != 0) stays = Read(*guest);
      if (stays && guest->until <= steady_clock::now()) {
        if (guest->began) Refuse(*guest, 408, "the request did not arrive in time");
        close(guest->fd);
        stays = false;
      }
      left += stays ? 0 : 1;
      guest = stays ? std::next(guest) : guests_.erase(guest);
    }
    if (left > 0) {
      const std::lock_guard lock(mutex_);
      count_ -= left;
    }
    Admit();
  }
}

// A request may already be there as a whole: bytes that came with the request before it.
void Lobby::Admit() {
  Guests fresh;
  {
    const std::lock_guard lock(mutex_);
    fresh.swap(arriving_);
  }
  std::size_t left = 0;
  for (auto guest = fresh.begin(); guest != fresh.end();) {
    const bool stays = guest->bytes.empty() || HandOn(*guest);
    left += stays ? 0 : 1;
    guest = stays ? std::next(guest) : fresh.erase(guest);
  }
  guests_.splice(guests_.end(), fresh);
  const std::lock_guard lock(mutex_);
  count_ -= left;
}

milliseconds Lobby::NextEnd() const {
  milliseconds next{60'000};
  const auto now = steady_clock::now();
  for (const Guest& guest : guests_) next = std::min(next, std::chrono::ceil<milliseconds>(guest.until - now));
  return std::max(next, milliseconds(0));
}

bool Lobby::Read(Guest& guest) {
  char buffer[16 * 1024];
  const ssize_t got = recv(guest.fd, buffer, sizeof buffer, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) {
    close(guest.fd);
    return false;
  }
  if (!guest.began) guest.until = steady_clock::now() + options_.patience;
  guest.began = true;
  guest.bytes.append(buffer, static_cast<std::size_t>(got));
  return HandOn(guest);
}

// Hands a complete request on; true while it is incomplete.
bool Lobby::HandOn(Guest& guest) {
  const std::size_t end = guest.bytes.find("\r\n\r\n");
  if (end == std::string::npos && guest.bytes.size() <= kMaxHeadBytes) return true;
  if (end == std::string::npos || end > kMaxHeadBytes) {
    Refuse(guest, 431, "the head of the request is longer than 32 KiB");
    close(guest.fd);
    return false;
  }
  const std::string_view head = std::string_view(guest.bytes).substr(0, end + 2);
  if (guest.bytes.size() < end + 4 + BodyBytes(head)) return true;
  const std::size_t target = head.find(' ');
  const bool operations = target != std::string_view::npos && head.substr(target + 1).starts_with("/-/");
  ready_(std::make_unique<Connection>(guest.fd, std::move(guest.bytes)), operations);
  return false;
}

// Best effort: the client may not read.
void Lobby::Refuse(const Guest& guest, int status, const std::string& message) const {
  const std::string body = ProblemDocument(status, message);
  const std::string answer = "HTTP/1.1 " + std::to_string(status) + " " + std::string(StatusPhrase(status)) +
                             "\r\nContent-Type: " + kProblem + "\r\nContent-Length: " + std::to_string(body.size()) +
                             "\r\nConnection: close\r\n\r\n" + body;
  [[maybe_unused]] const auto sent = send(guest.fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace breakwatch::api
