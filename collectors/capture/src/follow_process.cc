#include <poll.h>

#include <csignal>

#include "breakwatch/capture/run_process.h"
#include "breakwatch/core/clock.h"
#include "process.h"

namespace breakwatch::capture {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr milliseconds kTick{500};
constexpr std::size_t kReadBytes = 64u << 10, kLongestLine = 64u << 10;

// One output, cut into lines.
class Lines {
 public:
  explicit Lines(const Follow& follow) : follow_(follow) {}

  // Reads what is available. At end of file it sets the descriptor to -1, which poll skips.
  void Read(pollfd& polled) {
    if (polled.fd < 0) return;
    if (!ReadAvailable(polled.fd, kReadBytes, &text_)) polled.fd = -1;
    for (std::size_t end; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) Give(end);
    if (text_.size() > kLongestLine) Give(text_.size()), text_.clear();
  }
  // What follows the last line end.
  void Finish() {
    if (!text_.empty()) Give(text_.size());
  }

 private:
  void Give(std::size_t length) {
    if (follow_.on_line) follow_.on_line(std::string_view(text_).substr(0, std::min(length, kLongestLine)));
  }

  const Follow& follow_;
  std::string text_;
};

}  // namespace

Result<ProcessEnd> FollowProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                                 milliseconds timeout, const Follow& follow) {
  Result<ChildProcess> child = ChildProcess::Spawn(argv, environment);
  if (!child.ok()) return child.error();
  child->CloseIn();
  const SteadyTime deadline = RealClock().Steady() + timeout;
  Lines out(follow), err(follow);
  pollfd polled[4] = {
      {child->out(), POLLIN, 0}, {child->err(), POLLIN, 0}, {child->exit_fd(), POLLIN, 0}, {follow.stop_fd, POLLIN, 0}};
  for (;;) {
    if (poll(polled, 4, static_cast<int>(kTick.count())) < 0) continue;  // EINTR
    out.Read(polled[0]);
    err.Read(polled[1]);
    if (follow.on_tick) follow.on_tick();
    if (polled[2].revents != 0) break;
    // The destructor kills the group.
    if (polled[3].revents != 0) return Error{ErrorCode::kInterrupted, "interrupted"};
    if (RealClock().Steady() > deadline) return Error{ErrorCode::kUnavailable, argv.front() + " did not end in time"};
  }
  // Its last words may have come between the check of an output and that of the exit.
  for (int more = 0; more < 16 && (polled[0].fd >= 0 || polled[1].fd >= 0); ++more)
    out.Read(polled[0]), err.Read(polled[1]);
  out.Finish();
  err.Finish();
  return child->Reap().value_or(ProcessEnd{});
}

}  // namespace breakwatch::capture
