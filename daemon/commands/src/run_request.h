// Runs a request for a sweep: by the daemon of the state directory or of --server, or here if there is none.
#pragma once

#include "breakwatch/api/control_socket.h"
#include "commands.h"

namespace breakwatch::commands {

struct RequestDone {
  api::Followed swept;    // at least one sweep
  bool by_us = false;     // this process ran it; a daemon's exporters are unknown here
  bool reported = false;  // the reports of its sweeps are written
};

// The request for options.models: names, filters of the ranking or scripts. Error: as RunSweep's.
Result<SweepRequest> RequestOf(App& app, SweepOptions options);

// Blocks until the request's last sweep ended. Error: no sweep ended.
Result<RequestDone> RunRequest(App& app, const SweepRequest& request, ProgressListener& progress,
                               bool local_gateway = false);

// The error of an interrupted sweep, with the command that continues it.
Error WithResumeCommand(const App& app, Error error);
// Warns of flags that a resumed sweep ignores.
void NameFlagsOfThePlan(const App& app, const SweepOptions& options);

}  // namespace breakwatch::commands
