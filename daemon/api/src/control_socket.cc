#include "breakwatch/api/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "control_wire.h"
#include "untrusted_request.h"

namespace breakwatch::api {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxFollowers = 16;
constexpr std::size_t kMaxBacklogBytes = 16u << 20;  // for a follower that does not read
constexpr int kAnswerBufferBytes = 1 << 20;
constexpr int kMaxLineDepth = 101;  // a request and the message around it

std::string Line(const json& message) { return JsonText(message) + "\n"; }

std::string TextOf(const json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Parses the request in a line. Any process that can open the socket may have written it.
Result<SweepRequest> RequestOf(const std::string& line, const SweepRequest& defaults) {
  const Error unknown{ErrorCode::kUsage, "expected a sweep request"};
  if (!CheckJson(line, kMaxControlLine, kMaxLineDepth)) return unknown;
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object() || !message.contains("request")) return unknown;
  const auto type = message.find("type");
  if (type == message.end() || *type != "sweep") return unknown;
  std::optional<CaptureResult> imported;
  if (message.contains("capture")) {
    auto capture = CaptureResultFromJson(JsonText(message["capture"]));
    if (!capture) return Error{ErrorCode::kUsage, capture.error().Within("the imported capture").message};
    imported = *std::move(capture);
  }
  auto request = SweepRequestFromJson(JsonText(message["request"]), defaults, std::move(imported));
  if (!request) return request;
  request->toolchain.python = TextOf(message, "python");
  if (request->imported && (!request->saved_plan || request->saved_plan->models.size() != 1)) {
    return Error{ErrorCode::kUsage, "an import needs a plan with exactly one model"};
  }
  return request;
}

// True if the peer is a process of this user. Root counts as another user, unless this process runs as root.
bool IsOwnUser(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

// The inode of the file at `path`; 0 if there is none.
ino_t InodeOf(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

// One connected command. Only the socket thread uses the fields other than `fd`, unless the mutex is held.
struct Follower {
  int fd = -1;
  bool own_user = false;
  std::string in, out;
  std::string id;          // id of its command; empty before its request
  bool following = false;  // its sweeps are running
  bool swept = false;      // at least one sweep ended
  json done;               // the last message, kept until the exporters are done or timed out
  bool last = false;       // close after `out` is sent
  bool closing = false;
};

class SocketServer final : public ControlSocket {
 public:
  SocketServer(int listener, std::string path, CommandQueue& commands, SweepRequest defaults,
               std::vector<std::string> toolchains, Drain drain)
      : listener_(listener),
        path_(std::move(path)),
        inode_(InodeOf(path_)),
        commands_(commands),
        defaults_(std::move(defaults)),
        toolchains_(std::move(toolchains)),
        drain_(std::move(drain)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}
  ~SocketServer() override {
    thread_.request_stop();
    Wake();
    thread_.join();
    for (Follower& follower : followers_) close(follower.fd);
    // If the state directory was replaced, the socket there belongs to another daemon.
    if (InodeOf(path_) == inode_) unlink(path_.c_str());
    close(listener_);
    close(wake_);
  }

  void OnListing(int resolved, int total) override {
    Broadcast({{"type", "listing"}, {"resolved", resolved}, {"total", total}});
  }
  void OnAccepted(std::string_view command_id, std::string_view) override {
    const std::lock_guard lock(mutex_);
    for (Follower& follower : followers_) follower.following = follower.following || follower.id == command_id;
  }
  void OnRefused(std::string_view command_id, const Error& error) override {
    const std::lock_guard lock(mutex_);
    for (Follower& follower : followers_) {
      if (follower.id != command_id) continue;
      follower.out += Line(ToMessage(error));
      follower.last = true;
    }
    Wake();
  }
  void OnPlan(const Plan& plan, std::size_t already_done) override {
    json head = {{"type", "plan"}, {"already_done", already_done}};
    head["plan"] = json::parse(breakwatch::ToJson(plan));
    for (json& model : head["plan"]["models"]) model.erase("config");
    Broadcast(head);
  }
  void OnWaiting(std::string_view why) override { Broadcast({{"type", "waiting"}, {"why", why}}); }
  void OnResult(const ModelResult& result, std::size_t done, std::size_t total) override {
    Broadcast(
        {{"type", "result"}, {"done", done}, {"total", total}, {"result", json::parse(breakwatch::ToJson(result))}});
  }
  void OnFinished(const Sweep& sweep) override {
    const std::lock_guard lock(mutex_);
    Append(Line({{"type", "finished"}, {"sweep", json::parse(breakwatch::ToJson(sweep))}}));
    for (Follower& follower : followers_) follower.swept = follower.swept || follower.following;
  }
  void OnServed(std::string_view command_id, const Error* error) override {
    const std::lock_guard lock(mutex_);
    for (Follower& follower : followers_) {
      if (follower.id != command_id || follower.last) continue;  // already received its refusal
      follower.following = false;
      if (error != nullptr && !follower.swept) {
        follower.out += Line(ToMessage(*error));
        follower.last = true;
        continue;
      }
      follower.done = {{"type", "done"}};
      if (error != nullptr) follower.done["error"] = ToMessage(*error);
    }
    Wake();
  }

 private:
  void Broadcast(const json& message) {
    const std::lock_guard lock(mutex_);
    Append(Line(message));
  }
  // Call it with the mutex held.
  void Append(const std::string& line) {
    for (Follower& follower : followers_) {
      if (!follower.following) continue;
      if (follower.out.size() + line.size() > kMaxBacklogBytes)
        follower.closing = true;
      else
        follower.out += line;
    }
    Wake();
  }
  void Wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake_, &one, sizeof one);
  }

  void Run(const std::stop_token& stop);
  void TellDone(const std::stop_token& stop);
  std::vector<pollfd> Descriptors();
  void Accept();
  void Serve(Follower& follower, short events);
  void Read(Follower& follower);
  void Request(Follower& follower, const std::string& line);
  void Send(Follower& follower);

  const int listener_;
  const std::string path_;
  const ino_t inode_;
  CommandQueue& commands_;
  const SweepRequest defaults_;
  const std::vector<std::string> toolchains_;
  const Drain drain_;
  const int wake_;
  std::mutex mutex_;
  std::list<Follower> followers_;
  int requests_ = 0;
  std::jthread thread_;  // last: it uses all members above
};

void SocketServer::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> descriptors = Descriptors();
    if (poll(descriptors.data(), descriptors.size(), -1) < 0 && errno != EINTR) return;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read_bytes = read(wake_, &count, sizeof count);
    if ((descriptors[0].revents & POLLIN) != 0) Accept();
    TellDone(stop);
    const std::lock_guard lock(mutex_);
    for (auto follower = followers_.begin(); follower != followers_.end();) {
      short events = 0;
      for (const pollfd& descriptor : descriptors) {
        if (descriptor.fd == follower->fd) events = descriptor.revents;
      }
      Serve(*follower, events);
      if (!follower->closing) {
        ++follower;
        continue;
      }
      close(follower->fd);
      follower = followers_.erase(follower);
    }
  }
}

// Waits for the exporters without the mutex, because the loop continues. Sweeps that end meanwhile have followers that
// need their own wait. Only this thread adds and removes followers.
void SocketServer::TellDone(const std::stop_token& stop) {
  std::vector<Follower*> ended;
  {
    const std::lock_guard lock(mutex_);
    for (Follower& follower : followers_) {
      if (!follower.done.is_null()) ended.push_back(&follower);
    }
  }
  if (ended.empty()) return;
  const std::vector<std::string> behind = drain_(stop);
  const std::lock_guard lock(mutex_);
  for (Follower* follower : ended) {
    json message = std::exchange(follower->done, {});
    message["behind"] = behind;
    follower->out += Line(message);
    follower->last = true;
  }
}

std::vector<pollfd> SocketServer::Descriptors() {
  const std::lock_guard lock(mutex_);
  std::vector<pollfd> out{{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
  for (const Follower& follower : followers_) {
    out.push_back({follower.fd, static_cast<short>(POLLIN | (follower.out.empty() ? 0 : POLLOUT)), 0});
  }
  return out;
}

void SocketServer::Accept() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  const std::lock_guard lock(mutex_);
  if (followers_.size() >= kMaxFollowers) {
    const std::string full = Line(ToMessage({ErrorCode::kInternal, "too many clients follow sweeps"}));
    (void)!send(fd, full.data(), full.size(), MSG_NOSIGNAL);
    close(fd);
    return;
  }
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kAnswerBufferBytes, sizeof kAnswerBufferBytes);
  Follower& follower = followers_.emplace_back();
  follower.fd = fd;
  follower.own_user = IsOwnUser(fd);
}

void SocketServer::Serve(Follower& follower, short events) {
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) Read(follower);
  if (!follower.out.empty() && !follower.closing) Send(follower);
  if (follower.last && follower.out.empty()) follower.closing = true;
}

void SocketServer::Read(Follower& follower) {
  char buffer[64 * 1024];
  const ssize_t size = recv(follower.fd, buffer, sizeof buffer, 0);
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
    follower.closing = true;
    return;
  }
  const std::size_t searched = follower.in.size();
  if (size > 0) follower.in.append(buffer, static_cast<std::size_t>(size));
  const auto end = follower.in.find('\n', searched);
  if (end != std::string::npos && follower.id.empty()) Request(follower, follower.in.substr(0, end));
  if (follower.in.size() > kMaxControlLine) follower.closing = true;
}

void SocketServer::Request(Follower& follower, const std::string& line) {
  Result<SweepRequest> request = RequestOf(line, defaults_);
  const std::string id = follower.id = "socket-" + std::to_string(++requests_);
  Result<void> accepted;
  if (!request) {
    accepted = request.error();
  } else if (auto checked = follower.own_user ? Result<void>() : CheckUntrusted(*request, toolchains_); !checked) {
    accepted = checked.error();
  } else if (!commands_.Push({Command::Kind::kSweep, id, std::move(*request), {}})) {
    accepted = Error{ErrorCode::kUnavailable, "too many requests are waiting"};
  }
  const json answer = accepted ? json{{"type", "accepted"}, {"id", id}} : ToMessage(accepted.error());
  follower.out += Line(answer);
  follower.last = !accepted;
}

void SocketServer::Send(Follower& follower) {
  const ssize_t sent = send(follower.fd, follower.out.data(), follower.out.size(), MSG_NOSIGNAL);
  if (sent > 0)
    follower.out.erase(0, static_cast<std::size_t>(sent));
  else if (errno != EAGAIN && errno != EINTR)
    follower.closing = true;
}

}  // namespace

Result<std::unique_ptr<ControlSocket>> ControlSocket::Listen(const std::string& path, CommandQueue& commands,
                                                             const SweepRequest& defaults,
                                                             std::vector<std::string> toolchains, Drain drain) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error{ErrorCode::kConfig,
                 "the path of the control socket is too long: " + path + "; choose a shorter state_dir"};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  // The caller holds the writer lock, so an existing socket belongs to a daemon that died.
  unlink(path.c_str());
  const mode_t mask = umask(0177);
  const bool bound = fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  umask(mask);
  if (!bound || listen(fd, 16) != 0) {
    const Error error{ErrorCode::kStore, "cannot listen on " + path + ": " + std::strerror(errno)};
    if (fd >= 0) close(fd);
    return error;
  }
  return std::unique_ptr<ControlSocket>(
      std::make_unique<SocketServer>(fd, path, commands, defaults, std::move(toolchains), std::move(drain)));
}

}  // namespace breakwatch::api
