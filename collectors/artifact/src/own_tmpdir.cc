#include "own_tmpdir.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace breakwatch::artifact {
namespace {

constexpr int kCannotStart = 74;
constexpr int kEnding[] = {SIGHUP, SIGINT, SIGTERM};

volatile std::sig_atomic_t child = 0, ended_by = 0;

void EndChild(int signal) {
  ended_by = signal;
  kill(static_cast<pid_t>(child), SIGKILL);
}

int CannotStart(const std::string& what) {
  std::fprintf(stderr, "breakwatch-runner: %s\n", what.c_str());
  return kCannotStart;
}

// Empty: none could be made, and standard error has the reason.
std::string MakeFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) return CannotStart("no folder for temporary files: " + error.message() + " (see TMPDIR)"), "";
  std::string path = parent / "breakwatch-runner-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    return CannotStart(parent.string() + ": cannot make a folder: " + std::strerror(errno)), "";
  return path;
}

// The child's status. Signals that would end this process end the child, and are noted.
int WaitForChild(const sigset_t& before) {
  struct sigaction action {};
  action.sa_handler = EndChild;
  for (const int signal : kEnding) sigaction(signal, &action, nullptr);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  while (waitpid(static_cast<pid_t>(child), &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

void EndBy(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

int InOwnTmpdir(const std::function<int()>& body) {
  const std::string folder = MakeFolder();
  if (folder.empty()) return kCannotStart;
  const pid_t self = getpid();
  sigset_t ending, before;
  sigemptyset(&ending);
  for (const int signal : kEnding) sigaddset(&ending, signal);
  sigprocmask(SIG_BLOCK, &ending, &before);
  const pid_t pid = fork();
  if (pid == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(kCannotStart);
    setenv("TMPDIR", folder.c_str(), 1);
    return body();
  }
  const std::string why = pid < 0 ? std::strerror(errno) : "";
  child = pid;
  const int status = pid < 0 ? 0 : WaitForChild(before);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (pid < 0) return CannotStart("cannot start a process: " + why);
  if (ended_by != 0) EndBy(ended_by);
  if (WIFSIGNALED(status)) EndBy(WTERMSIG(status));
  return WEXITSTATUS(status);
}

}  // namespace breakwatch::artifact
