// ChildProcess: a program in its own session, with pipes to its standard streams and a descriptor for its exit.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"
#include "unique_fd.h"

namespace breakwatch::capture {

// "exited with code 3", "killed by signal 9 (Killed)".
struct ProcessEnd {
  bool signalled = false;
  int value = 0;  // exit code or signal
  std::string Text() const;
};

// Owner and thread: whoever spawned it. The destructor kills the group and reaps.
class ChildProcess {
 public:
  // Nothing of ours is inherited: descriptors are closed, signals reset, the environment is exactly
  // `environment` ("NAME=value"). Error: kUnavailable, naming the program;
  // retryable when only the machine's resources were short.
  static Result<ChildProcess> Spawn(const std::vector<std::string>& argv, const std::vector<std::string>& environment);

  ChildProcess(ChildProcess&&) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  // Ours are non-blocking and closed on exec.
  int in() const { return in_.get(); }
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }
  int exit_fd() const { return pid_fd_.get(); }  // readable once it has ended
  void CloseIn() { in_.Close(); }
  void CloseOut() { out_.Close(); }
  void CloseErr() { err_.Close(); }

  // To all processes of its group. After Reap: does nothing, as the number may be another's by then.
  void SignalGroup(int signal);
  // Without waiting. Kills what is left of the group first, while the number is still ours.
  std::optional<ProcessEnd> Reap();

 private:
  ChildProcess() = default;

  pid_t pid_ = -1;  // until reaped
  UniqueFd in_, out_, err_, pid_fd_;
};

// Reads what is there, at most `budget` bytes. False at end of file or on an error.
bool ReadAvailable(int fd, std::size_t budget, std::string* bytes);
// Writes what fits. Bytes written; -1 when nobody reads any more. Never raises SIGPIPE.
ssize_t WriteAvailable(int fd, std::string_view bytes);

// Kills, by SIGKILL, every process whose initial environment holds one of `marks` ("NAME=value"): what a child left
// behind in sessions of its own. Returns how many.
int KillMarked(const std::vector<std::string>& marks);

struct ProcessOutput {
  ProcessEnd end;
  std::string out, err;
  bool timed_out = false, too_long = false;  // then it was killed
};

// Runs a program to its end with empty standard input, bounded in time and in bytes of each output.
Result<ProcessOutput> RunProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                                 std::chrono::milliseconds timeout, std::size_t max_bytes);

}  // namespace breakwatch::capture
