// Converts a view to the arguments of bubblewrap: a root that contains only the named paths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "view.h"

namespace breakwatch::capture {

struct BubblewrapOptions {
  std::string program;             // of bubblewrap
  std::int64_t scratch_bytes = 0;  // limit for all writable file systems; they are in memory and end with the worker
  bool user_namespace = true;      // false: run as root, without a user namespace
  bool bar_namespaces = true;      // deny nested user namespaces; needs bubblewrap 0.8
};

// Returns the arguments up to "--". The sandbox has no capabilities, no network and no other processes. Only three file
// systems of bounded size and the view's writable folders can be written. /proc is read-only, because root's user ID
// can change its switches without capabilities.
std::vector<std::string> BubblewrapArguments(const View& view, const BubblewrapOptions& options);

}  // namespace breakwatch::capture
