// Process descriptors by system call: before version 2.37, the C library's header cannot be used from C++.
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace breakwatch::capture {

// Closed on exec. -1 with errno when there is no such process.
inline int OpenProcess(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }
inline bool SignalProcess(int pid_fd, int signal) {
  return syscall(SYS_pidfd_send_signal, pid_fd, signal, nullptr, 0) == 0;
}

}  // namespace breakwatch::capture
