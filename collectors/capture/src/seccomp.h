// A system call filter that all later child processes inherit.
#pragma once

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

enum class Sockets {
  kAllowed,  // a network namespace isolates it
  kDenied,   // nothing else blocks the network, other programs' sockets, or signals to other programs
};

// Needs no_new_privs. Calls that captures do not need fail with EPERM, or with ENOSYS where programs have a fallback.
// With kDenied, captures cannot signal the process that started this one. Error: kUnavailable if the kernel lacks
// filters.
Result<void> InstallSyscallFilter(Sockets sockets);

}  // namespace breakwatch::capture
