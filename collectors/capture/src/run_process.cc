#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "breakwatch/capture/launcher.h"
#include "breakwatch/core/clock.h"
#include "process.h"

namespace breakwatch::capture {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// The maximum that a finished program can leave in its pipes.
constexpr std::size_t kPipeBytes = 1u << 20;

// Reads one output regardless of poll's events: bytes may arrive between poll's check of the output and of the exit. At
// end of file it sets the descriptor to -1, which poll skips.
bool Drain(pollfd& polled, std::string* kept, std::size_t max_bytes) {
  if (polled.fd < 0) return true;
  std::string bytes;
  if (!ReadAvailable(polled.fd, kPipeBytes, &bytes)) polled.fd = -1;
  const std::size_t free = max_bytes - std::min(max_bytes, kept->size());
  kept->append(bytes, 0, free);
  return bytes.size() <= free;
}

}  // namespace

Result<ProcessOutput> RunProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                                 milliseconds timeout, std::size_t max_bytes) {
  Result<ChildProcess> child = ChildProcess::Spawn(argv, environment);
  if (!child.ok()) return child.error();
  child->CloseIn();
  ProcessOutput output;
  const SteadyTime deadline = RealClock().Steady() + timeout;
  pollfd polled[3] = {{child->out(), POLLIN, 0}, {child->err(), POLLIN, 0}, {child->exit_fd(), POLLIN, 0}};
  for (;;) {
    const auto left = duration_cast<milliseconds>(deadline - RealClock().Steady()).count();
    output.timed_out = left <= 0;
    if (!output.timed_out && poll(polled, 3, static_cast<int>(left)) < 0) continue;  // EINTR
    const bool ended = polled[2].revents != 0;
    const bool out_fits = Drain(polled[0], &output.out, max_bytes);
    const bool err_fits = Drain(polled[1], &output.err, max_bytes);
    output.too_long = !out_fits || !err_fits;
    if (ended) break;
    if (output.timed_out || output.too_long) {
      child->SignalGroup(SIGKILL);
      poll(&polled[2], 1, 5'000);
      break;
    }
  }
  if (const auto end = child->Reap()) output.end = *end;
  return output;
}

std::vector<std::string> OwnEnvironment(const std::vector<std::string_view>& without) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool left_out = std::find(without.begin(), without.end(), text.substr(0, text.find('='))) != without.end();
    if (!left_out) environment.emplace_back(text);
  }
  return environment;
}

Result<std::string> RunProgram(const std::vector<std::string>& argv, milliseconds timeout, std::size_t max_bytes) {
  auto output = RunProcess(argv, OwnEnvironment(), timeout, max_bytes);
  if (!output) return output.error();
  const auto failed = [&](const std::string& how) { return Error{ErrorCode::kUnavailable, argv.front() + " " + how}; };
  if (output->timed_out) return failed("did not end in time");
  if (output->too_long) return failed("printed too much");
  if (output->end.signalled || output->end.value != 0) return failed(output->end.Text());
  return std::move(output->out);
}

}  // namespace breakwatch::capture
