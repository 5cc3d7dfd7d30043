// Landlock: a process gives up access to files permanently and without privileges. Uses system calls, because the C
// library has no wrapper.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

struct FileAccess {
  std::vector<std::string> read;   // files, and folders with their content; missing paths are skipped
  std::vector<std::string> list;   // folders: may be listed, but their files may not be read
  std::vector<std::string> write;  // files, and folders with their content
};

// The Landlock version of the kernel. 0: not supported or disabled.
int LandlockVersion();

// Why this version is not enough; empty if it is. Before version 3, any visible file can be truncated.
std::string WhyNoLandlock(int version);

// Denies opening, creating, removing and renaming of all paths that `access` does not name. If the kernel supports it,
// also denies signals and abstract sockets to other programs, and TCP. Needs no_new_privs. Error: kUnavailable.
Result<void> RestrictFiles(const FileAccess& access);

}  // namespace breakwatch::capture
