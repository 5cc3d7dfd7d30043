// Runs breakwatch-runner on a package, in a sandbox and within limits, and reads its answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::artifact {

struct RunnerOptions {
  std::string program;               // path of breakwatch-runner
  std::vector<std::string> confine;  // this program and the subcommand that confines another (capture/confine.h)
  bool sandbox = true;               // false: run it directly; only for packages that were built here
  std::string scratch;               // folder for temporary files; empty: the system's
  std::chrono::milliseconds timeout{300'000};
  std::int64_t memory_bytes = 6LL << 30;
  int threads = 1;
};

struct RunnerReport {
  // "ok", "wrong_result", "failed_check" or "refused", as the runner prints; "failed" of a measurement; or how it ended
  // without an answer: "crashed", "timeout".
  std::string status;
  std::string detail;   // one line; empty if ok
  std::string json;     // what it printed: one object; "{}" without an answer
  std::string sandbox;  // that it ran in: "bubblewrap", "landlock", "none"
};

// Runs `breakwatch-runner COMMAND FOLDER --json` with `more` arguments; COMMAND is check, inspect or bench. It sees the
// package, libtorch and nothing else: no Python, no compiler, no shell, no network, no other file.
//
// Thread: any; it takes as long as the runner. Error: kUnavailable if the program is missing, cannot be started, or no
// sandbox works here.
Result<RunnerReport> RunRunner(const RunnerOptions& options, const std::string& command, const std::string& folder,
                               const std::vector<std::string>& more = {});

}  // namespace breakwatch::artifact
