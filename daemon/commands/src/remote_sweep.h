// A sweep by the daemon that --server names.
#pragma once

#include "breakwatch/api/control_socket.h"
#include "breakwatch/commands/app.h"

namespace breakwatch::commands {

// Hands the request over HTTP and follows it. A signal ends only the wait: the daemon continues. Error: as the
// daemon's; kUnavailable, it does not answer any more.
Result<api::Followed> SweepThere(const App& app, const SweepRequest& request, ProgressListener& progress);

}  // namespace breakwatch::commands
