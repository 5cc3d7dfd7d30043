// The sandbox a zygote starts in, when this machine has one.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

struct LauncherChoice {
  std::vector<std::string> argv;  // goes before the worker's command; empty: start it directly
  std::string why;                // one line for the operator: what was found, and the mend when nothing was
};

// bubblewrap with a read-only view of /, a writable `scratch`, private /tmp, /run, /dev and /proc, no network, no
// sight of other processes or of stored credentials. Tried out by running it once, since it can be installed and
// still not allowed. `visible`: what the worker needs to read (environment, package); bound again where hidden, as
// the current directory is.
LauncherChoice DefaultLauncher(const std::string& scratch, const std::vector<std::string>& visible);

// What a program prints, run to its end in this process's environment. Error: kUnavailable, it cannot be started, takes
// longer than `timeout`, prints more than `max_bytes`, or fails.
Result<std::string> RunProgram(const std::vector<std::string>& argv, std::chrono::milliseconds timeout,
                               std::size_t max_bytes);

}  // namespace breakwatch::capture
