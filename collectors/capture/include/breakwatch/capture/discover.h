// Runs a script in a worker, once, and reports the modules that it called.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "breakwatch/capture/zygote_runner.h"

namespace breakwatch::capture {

struct DiscoverOptions {
  std::string script;
  std::vector<std::string> arguments;  // the script's own
  int max_depth = 0;                   // 0: modules called by no other module
  std::chrono::milliseconds timeout{600'000};
};

// The worker's `discovered` line: checked JSON of at most 16 MiB, see PROTOCOL.md. A failing script is part of it, not
// an error. Error: kUnavailable, quoting the worker, if there is no such line in time.
Result<std::string> DiscoverModules(const ZygoteOptions& options, const DiscoverOptions& discover);

}  // namespace breakwatch::capture
