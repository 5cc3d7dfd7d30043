// The sandbox a zygote starts in, when this machine has one.
#pragma once

#include <string>
#include <vector>

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

}  // namespace breakwatch::capture
