// Landlock: a process gives up access to files, for good and without privileges. By system call: the C library has
// none.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

struct FileAccess {
  std::vector<std::string> read;   // files, and folders with all below; what is missing is skipped
  std::vector<std::string> list;   // folders: the names below, and no content
  std::vector<std::string> write;  // folders with all below; files
};

// The kernel's version of it; 0: it has none, or it is switched off.
int LandlockVersion();

// Why this version is not enough; empty: it is. Before version 3, whatever can be seen can be truncated.
std::string WhyNoLandlock(int version);

// Whatever `access` does not name can neither be opened nor made, removed or renamed. Where the kernel can, also
// signals and abstract sockets of other programs, and TCP. Needs no_new_privs. Error: kUnavailable.
Result<void> RestrictFiles(const FileAccess& access);

}  // namespace breakwatch::capture
