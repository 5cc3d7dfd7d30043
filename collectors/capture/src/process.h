// ChildProcess: a program in its own session, with pipes to its standard streams and a descriptor for its exit.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/capture/run_process.h"
#include "breakwatch/core/result.h"
#include "unique_fd.h"

namespace breakwatch::capture {

// Owner and thread: the caller of Spawn. The destructor kills the group and reaps the process.
class ChildProcess {
 public:
  // The child inherits nothing: descriptors are closed, signals reset, and the environment is exactly `environment`
  // ("NAME=value"). Error: kUnavailable with the program's name; retryable if only the machine's resources were
  // exhausted.
  static Result<ChildProcess> Spawn(const std::vector<std::string>& argv, const std::vector<std::string>& environment);

  ChildProcess(ChildProcess&&) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  // Our ends are non-blocking and closed on exec.
  int in() const { return in_.get(); }
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }
  int exit_fd() const { return pid_fd_.get(); }  // readable once it has ended
  void CloseIn() { in_.Close(); }
  void CloseOut() { out_.Close(); }
  void CloseErr() { err_.Close(); }

  // Signals all processes of its group. Does nothing after Reap, because the ID may be reused.
  void SignalGroup(int signal);
  // Does not wait. Kills the rest of the group first, while its ID cannot be reused.
  std::optional<ProcessEnd> Reap();

 private:
  ChildProcess() = default;

  pid_t pid_ = -1;  // until reaped
  UniqueFd in_, out_, err_, pid_fd_;
};

// Reads the available bytes, at most `budget`. False at end of file or on an error.
bool ReadAvailable(int fd, std::size_t budget, std::string* bytes);
// Writes as many bytes as fit and returns their number; -1 if the reader closed the pipe. Never raises SIGPIPE.
ssize_t WriteAvailable(int fd, std::string_view bytes);

// Kills, by SIGKILL, every process whose initial environment contains one of `marks` ("NAME=value"). These are
// processes that a child started in other sessions. Returns how many.
int KillMarked(const std::vector<std::string>& marks);

}  // namespace breakwatch::capture
