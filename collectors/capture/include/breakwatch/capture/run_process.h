// Runs another program to its end, within limits.
#pragma once

#include <chrono>
#include <string>
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

}  // namespace breakwatch::capture
