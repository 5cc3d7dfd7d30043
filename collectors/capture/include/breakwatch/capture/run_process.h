// Runs another program to its end, within limits.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

// "exited with code 3", "killed by signal 9 (Killed)".
struct ProcessEnd {
  bool signalled = false;
  int value = 0;  // exit code or signal
  std::string Text() const;
};

struct ProcessOutput {
  ProcessEnd end;
  std::string out, err;
  bool timed_out = false, too_long = false;  // if so, it was killed
};

// Runs a program until it ends, with empty standard input and exactly this environment ("NAME=value"), in its own
// session. Run time and the size of each output are limited. Error: kUnavailable with the program's name if it cannot
// be started.
Result<ProcessOutput> RunProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                                 std::chrono::milliseconds timeout, std::size_t max_bytes);

// What is done while a program runs. Thread: the caller's.
struct Follow {
  std::function<void(std::string_view line)> on_line;  // each line of both outputs, at most 64 KiB of it
  std::function<void()> on_tick;                       // twice a second
  int stop_fd = -1;                                    // once it is readable, the program is killed; -1: none
};

// As RunProcess, for a program that runs long and prints much: nothing of its output is kept. Error: kInterrupted,
// stop_fd became readable; kUnavailable, it cannot be started or runs longer than `timeout`.
Result<ProcessEnd> FollowProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                                 std::chrono::milliseconds timeout, const Follow& follow);

// This process's environment, as "NAME=value", without the variables `without`.
std::vector<std::string> OwnEnvironment(const std::vector<std::string_view>& without = {});

}  // namespace breakwatch::capture
