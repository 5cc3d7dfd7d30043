// A filter of system calls, inherited by everything that is started from here on.
#pragma once

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

enum class Sockets {
  kAllowed,  // there is a network namespace of its own
  kDenied,   // nothing else keeps it from the network, from other programs' sockets and from signals to them
};

// Needs no_new_privs. Calls that a capture has no use for fail with EPERM, or with ENOSYS where programs know another
// way. With kDenied none of them signals the process that started this one. Error: kUnavailable, the kernel has no such
// filters.
Result<void> InstallSyscallFilter(Sockets sockets);

}  // namespace breakwatch::capture
