#include "breakwatch/core/threads.h"

#include <sys/resource.h>

#include <fstream>

namespace breakwatch {
namespace {

// pids.max of our cgroup; empty: unknown or unlimited.
std::string TasksMax() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const bool unified = line.starts_with("0::");
    const std::size_t pids = line.find(":pids:");
    if (!unified && pids == std::string::npos) continue;
    const std::string folder =
        unified ? "/sys/fs/cgroup" + line.substr(3) : "/sys/fs/cgroup/pids" + line.substr(pids + 6);
    std::ifstream file(folder + "/pids.max");
    std::string limit;
    if (std::getline(file, limit) && limit != "max") return limit;
  }
  return "";
}

}  // namespace

std::string ProcessLimits() {
  rlimit limit{};
  getrlimit(RLIMIT_NPROC, &limit);
  std::string text = "the limit on processes and threads is reached: ulimit -u is ";
  text += limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur);
  const std::string tasks = TasksMax();
  return text + " here, TasksMax (pids.max) is " + (tasks.empty() ? "not set" : tasks);
}

Error CannotStartThread(std::string_view what, const std::system_error& error) {
  return {ErrorCode::kInternal,
          "cannot start " + std::string(what) + " thread: " + error.code().message() + "; " + ProcessLimits(),
          /*retryable=*/true,
          {}};
}

}  // namespace breakwatch
