#include <dirent.h>
#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "pidfd.h"
#include "process.h"

namespace breakwatch::capture {
namespace {

// Larger than any environment that we create. Bounds the bytes read from other processes.
constexpr std::size_t kMaxEnvironment = 1u << 20;

bool HasMark(const std::string& environment, const std::vector<std::string>& marks) {
  return std::any_of(marks.begin(), marks.end(), [&](const std::string& mark) {
    const std::string entry = mark + '\0';
    const std::size_t at = environment.find(entry);
    return at != std::string::npos && (at == 0 || environment[at - 1] == '\0');
  });
}

bool KillIfMarked(pid_t pid, const std::vector<std::string>& marks) {
  // Opens the descriptor before the check: a process ID may be reused before the signal is sent, a descriptor may not.
  const UniqueFd process(OpenProcess(pid));
  const UniqueFd file(open(("/proc/" + std::to_string(pid) + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  if (!process || !file) return false;
  std::string environment;
  ReadAvailable(file.get(), kMaxEnvironment, &environment);
  return HasMark(environment, marks) && SignalProcess(process.get(), SIGKILL);
}

int KillMarkedOnce(const std::vector<std::string>& marks) {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  int killed = 0;
  while (const dirent* entry = proc ? readdir(proc.get()) : nullptr) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 1 && KillIfMarked(pid, marks)) ++killed;
  }
  return killed;
}

}  // namespace

int KillMarked(const std::vector<std::string>& marks) {
  // Repeats until none is found: a process may fork after its listing entry was passed. A zombie's environment is
  // empty, so dead processes are not counted twice.
  int total = 0;
  for (int pass = 0; pass < 8; ++pass) {
    const int killed = KillMarkedOnce(marks);
    total += killed;
    if (killed == 0) break;
  }
  return total;
}

}  // namespace breakwatch::capture
