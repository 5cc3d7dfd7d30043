#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "breakwatch/api/control_socket.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "control_wire.h"

namespace breakwatch::api {
namespace {

using nlohmann::json;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Forwards a message and keeps its final results. Returns true if it was the last one.
Result<bool> Handle(const json& message, ProgressListener& listener, Followed& followed) {
  const std::string type = message.value("type", "");
  if (type == "listing") listener.OnListing(message.value("resolved", 0), message.value("total", 0));
  if (type == "plan") {
    const auto plan = PlanFromJson(JsonText(message.value("plan", json::object())));
    if (plan) listener.OnPlan(*plan, message.value("already_done", std::size_t{0}));
  }
  if (type == "waiting") listener.OnWaiting(message.value("why", ""));
  if (type == "result") {
    const auto result = ModelResultFromJson(JsonText(message.value("result", json::object())));
    if (result)
      listener.OnResult(*result, message.value("done", std::size_t{0}), message.value("total", std::size_t{0}));
  }
  if (type == "failed") {
    const Error error = ErrorFromMessage(message);
    listener.OnFailed(error);
    return error;
  }
  if (type == "finished") {
    const auto sweep = SweepFromJson(JsonText(message.value("sweep", json::object())));
    if (!sweep) return sweep.error();
    listener.OnFinished(*sweep);
    followed.sweeps.push_back(*sweep);
  }
  if (type != "done") return false;
  followed.behind = message.value("behind", std::vector<std::string>{});
  if (message.contains("error")) followed.error = ErrorFromMessage(message["error"]);
  if (followed.sweeps.empty()) return Error{ErrorCode::kInternal, "the daemon reported no sweep"};
  return true;
}

std::string LineOf(const SweepRequest& request) {
  json line = {{"type", "sweep"}, {"request", json::parse(ToJson(request))}};
  if (!request.toolchain.python.empty()) line["python"] = request.toolchain.python;
  if (request.imported) line["capture"] = json::parse(breakwatch::ToJson(*request.imported));
  return JsonText(line) + "\n";
}

}  // namespace

std::optional<std::string> ReadLine(int fd, std::string& pending) {
  while (true) {
    if (const auto end = pending.find('\n'); end != std::string::npos) {
      std::string line = pending.substr(0, end);
      pending.erase(0, end + 1);
      return line;
    }
    if (pending.size() > kMaxControlLine) return std::nullopt;
    char buffer[64 * 1024];
    const ssize_t size = read(fd, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return std::nullopt;
    pending.append(buffer, static_cast<std::size_t>(size));
  }
}

bool WriteAll(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t sent = send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

json ToMessage(const Error& error) {
  return {{"type", "failed"}, {"code", static_cast<int>(error.code)}, {"message", error.message}};
}

Error ErrorFromMessage(const json& message) {
  const int code = message.value("code", static_cast<int>(ErrorCode::kInternal));
  const bool known = code >= 0 && code <= static_cast<int>(ErrorCode::kInternal);
  return {known ? static_cast<ErrorCode>(code) : ErrorCode::kInternal, message.value("message", "the sweep failed")};
}

Result<std::optional<Followed>> FollowSweep(const std::string& path, const SweepRequest& request,
                                            ProgressListener& listener) {
  const std::optional<Followed> no_daemon;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return no_daemon;  // no daemon can listen there
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return no_daemon;
  }
  // Not kUnavailable, which means the Hub.
  const Error gone{ErrorCode::kInternal, "the daemon on " + path + " ended before the sweep did"};
  if (!WriteAll(fd.get(), LineOf(request))) return gone;
  Followed followed;
  std::string pending;
  while (const auto line = ReadLine(fd.get(), pending)) {
    const json message = json::parse(*line, nullptr, false);
    if (!message.is_object()) return gone;
    const auto handled = Handle(message, listener, followed);
    if (!handled) return handled.error();
    if (*handled) return std::optional(std::move(followed));
  }
  return gone;
}

}  // namespace breakwatch::api
