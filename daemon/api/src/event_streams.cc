#include "event_streams.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace breakwatch::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string Text(const std::string& id, const std::string& name, const std::string& data) {
  return "id: " + id + "\nevent: " + name + "\ndata: " + data + "\n\n";
}

}  // namespace

EventStreams::EventStreams(EventFeed& feed, StreamBounds bounds)
    : feed_(feed),
      bounds_(bounds),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "http-events");
        Run(stop);
      }) {
  feed_.OnChange([this] { Wake(); });
}

EventStreams::~EventStreams() {
  feed_.OnChange({});
  thread_.request_stop();
  Wake();
  thread_.join();
  for (auto* streams : {&arriving_, &streams_}) {
    for (const Stream& stream : *streams) close(stream.fd);
  }
  close(wake_);
}

bool EventStreams::Take() {
  if (++taken_ <= bounds_.streams) return true;
  --taken_;
  return false;
}

void EventStreams::Wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void EventStreams::Add(int fd, const std::string& last_id) {
  Stream stream{.fd = fd};
  stream.next_heartbeat = steady_clock::now() + bounds_.heartbeat;
  Greet(stream, last_id);
  {
    const std::lock_guard lock(mutex_);
    arriving_.push_back(std::move(stream));
  }
  Wake();
}

// The state first. Then what the client missed; if that is not kept any more, it must read the state anew.
void EventStreams::Greet(Stream& stream, const std::string& last_id) {
  const auto last = feed_.NumberOf(last_id);
  const bool known = last && feed_.After(*last).is_complete;
  stream.last = known ? *last : feed_.After(0).newest;
  const std::string id = feed_.IdOf(stream.last);
  stream.pending = "retry: 5000\n\n";
  if (!last_id.empty() && !known) stream.pending += Text(id, "reset", "{}");
  stream.pending += Text(id, "status", feed_.Status());
}

void EventStreams::Fill(Stream& stream) {
  const EventFeed::Batch batch = feed_.After(stream.last);
  if (!batch.is_complete) stream.pending += Text(feed_.IdOf(stream.last), "reset", "{}");
  for (const FeedEvent& event : batch.events) stream.pending += Text(feed_.IdOf(event.number), event.name, event.data);
  stream.last = batch.newest;
  if (stream.next_heartbeat > steady_clock::now()) return;
  stream.pending += ": still here\n\n";
  stream.next_heartbeat = steady_clock::now() + bounds_.heartbeat;
}

bool EventStreams::Write(Stream& stream) const {
  while (!stream.pending.empty()) {
    const ssize_t sent = send(stream.fd, stream.pending.data(), stream.pending.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN && stream.pending.size() <= bounds_.pending;
    stream.pending.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

bool EventStreams::Read(const Stream& stream) const {
  char ignored[1024];
  const ssize_t got = recv(stream.fd, ignored, sizeof ignored, MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

milliseconds EventStreams::NextHeartbeat() const {
  milliseconds next = bounds_.heartbeat;
  for (const Stream& stream : streams_)
    next = std::min(next, std::chrono::ceil<milliseconds>(stream.next_heartbeat - steady_clock::now()));
  return std::max(next, milliseconds(0));
}

void EventStreams::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> descriptors{{wake_, POLLIN, 0}};
    for (const Stream& stream : streams_) {
      const auto events = static_cast<short>(stream.pending.empty() ? POLLIN : POLLIN | POLLOUT);
      descriptors.push_back({stream.fd, events, 0});
    }
    const int timeout = static_cast<int>(NextHeartbeat().count());
    if (poll(descriptors.data(), descriptors.size(), timeout) < 0 && errno != EINTR) return;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wake_, &count, sizeof count);
    std::size_t at = 1;
    for (auto stream = streams_.begin(); stream != streams_.end(); ++at) {
      bool stays = (descriptors[at].revents & (POLLIN | POLLHUP | POLLERR)) == 0 || Read(*stream);
      if (stays) Fill(*stream);
      stays = stays && Write(*stream);
      if (!stays) close(stream->fd), GiveBack();
      stream = stays ? std::next(stream) : streams_.erase(stream);
    }
    const std::lock_guard lock(mutex_);
    if (!arriving_.empty()) Wake();  // to write to them
    streams_.splice(streams_.end(), arriving_);
  }
}

}  // namespace breakwatch::api
