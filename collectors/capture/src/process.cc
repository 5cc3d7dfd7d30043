#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "breakwatch/core/threads.h"
#include "pidfd.h"

namespace breakwatch::capture {
namespace {

Error Unavailable(const std::string& message, int error) {
  // The machine may have free resources later; a missing program stays missing.
  const bool passes = error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
  std::string text = message + ": " + std::strerror(error);
  if (error == EAGAIN) text += "; " + ProcessLimits();
  return {ErrorCode::kUnavailable, text, passes};
}

// Moves both ends above the standard descriptors, so that setting up the child's own cannot overwrite them.
bool MakePipe(UniqueFd* read_end, UniqueFd* write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  *read_end = UniqueFd(ends[0]);
  *write_end = UniqueFd(ends[1]);
  for (UniqueFd* end : {read_end, write_end}) {
    if (end->get() > 2) continue;
    UniqueFd moved(fcntl(end->get(), F_DUPFD_CLOEXEC, 3));
    if (!moved) return false;
    *end = std::move(moved);
  }
  return true;
}

void SetNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// The arguments of posix_spawn, freed at the end of the scope.
struct SpawnPlan {
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// posix_spawn uses vfork: the cost does not depend on the daemon's size, and it returns the errno of a failed exec.
int SpawnInOwnSession(const std::vector<std::string>& argv, const std::vector<std::string>& environment, int in,
                      int out, int err, pid_t* pid) {
  SpawnPlan plan;
  posix_spawn_file_actions_adddup2(&plan.actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&plan.actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&plan.actions, err, STDERR_FILENO);
  // Libraries in this process may have opened descriptors without close-on-exec.
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, 3);

  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setsigdefault(&plan.attributes, &all);
  posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  return posix_spawnp(pid, argv.front().c_str(), &plan.actions, &plan.attributes, Pointers(argv).data(),
                      Pointers(environment).data());
}

// Blocks SIGPIPE in this thread for a scope, and discards one raised in it.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    constexpr timespec kNow{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &kNow);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

}  // namespace

std::string ProcessEnd::Text() const {
  if (!signalled) return "exited with code " + std::to_string(value);
  return "killed by signal " + std::to_string(value) + " (" + strsignal(value) + ")";
}

Result<ChildProcess> ChildProcess::Spawn(const std::vector<std::string>& argv,
                                         const std::vector<std::string>& environment) {
  if (argv.empty() || argv.front().empty()) {
    return Error{ErrorCode::kUnavailable, "the worker's command is empty: set capture.worker"};
  }
  ChildProcess child;
  UniqueFd in, out, err;
  if (!MakePipe(&in, &child.in_) || !MakePipe(&child.out_, &out) || !MakePipe(&child.err_, &err)) {
    return Unavailable("cannot create a pipe for " + argv.front(), errno);
  }
  pid_t pid = -1;
  if (const int error = SpawnInOwnSession(argv, environment, in.get(), out.get(), err.get(), &pid); error != 0) {
    return Unavailable("cannot start " + argv.front(), error);
  }
  child.pid_ = pid;
  child.pid_fd_ = UniqueFd(OpenProcess(pid));
  if (!child.pid_fd_) return Unavailable("cannot watch " + argv.front(), errno);
  for (const int fd : {child.in(), child.out(), child.err()}) SetNonBlocking(fd);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      pid_fd_(std::move(other.pid_fd_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  SignalGroup(SIGKILL);
  // A process in an uninterruptible wait survives SIGKILL. Leaving a zombie is better than waiting forever.
  pollfd ended{pid_fd_.get(), POLLIN, 0};
  if (pid_fd_) poll(&ended, 1, 5'000);
  Reap();
}

void ChildProcess::SignalGroup(int signal) {
  if (pid_ > 0) kill(-pid_, signal);
}

std::optional<ProcessEnd> ChildProcess::Reap() {
  if (pid_ < 0) return std::nullopt;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
    if (info.si_pid == 0) return std::nullopt;
    SignalGroup(SIGKILL);
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0 && errno == EINTR) {
    }
  }  // otherwise another caller reaped it, and its status is lost
  pid_ = -1;
  return ProcessEnd{info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED, info.si_status};
}

bool ReadAvailable(int fd, std::size_t budget, std::string* bytes) {
  char buffer[64 * 1024];
  for (std::size_t total = 0; total < budget;) {
    const ssize_t n = read(fd, buffer, std::min(sizeof buffer, budget - total));
    if (n > 0) {
      bytes->append(buffer, static_cast<std::size_t>(n));
      total += static_cast<std::size_t>(n);
    } else if (n == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
  return true;
}

ssize_t WriteAvailable(int fd, std::string_view bytes) {
  const WithoutSigpipe guard;
  std::size_t total = 0;
  while (total < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + total, bytes.size() - total);
    if (n >= 0) {
      total += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return static_cast<ssize_t>(total);
}

}  // namespace breakwatch::capture
