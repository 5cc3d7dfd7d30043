// One capture in the foreground, in a folder that stays, and the command with which a person repeats it.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/capture/zygote_runner.h"
#include "breakwatch/core/capture.h"

namespace breakwatch::capture {

// The whole command: environment, launcher and worker. It reads `folder`/job.json, writes everything else into `folder`
// (absolute) and prints one line. `trace`: it also leaves a TORCH_TRACE directory, `folder`/trace.
std::vector<std::string> CommandByHand(const ZygoteOptions& options, const std::string& folder, bool trace);

// The command as a shell script. `title`: a comment.
std::string ScriptOf(const std::vector<std::string>& command, const std::string& title);

// Writes job.json and repeat.sh into the folder, runs repeat.sh once, and leaves there what it wrote: result.json,
// worker.log, scratch/, trace/. Returns the worker's line, "STATUS: DETAIL"; a capture that fails is a result.
// Error: kStore for a file; kUnavailable, if the worker ends without a result.
Result<std::string> CaptureByHand(const ZygoteOptions& options, const CaptureJob& job, const std::string& folder,
                                  bool trace);

}  // namespace breakwatch::capture
