// The view in the words of bubblewrap: a root of its own with nothing in it but what is named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "view.h"

namespace breakwatch::capture {

struct BubblewrapOptions {
  std::string program;             // of bubblewrap
  std::int64_t scratch_bytes = 0;  // of everything that can be written, in memory, gone with the worker
  bool user_namespace = true;      // else, as root, without one
  bool bar_namespaces = true;      // no further user namespace within; bubblewrap 0.8
};

// Up to "--". Inside: no capability, no network, no other process, nothing that can be written but three file systems
// of bounded size, and /proc read-only, whose switches belong to root's number also without capabilities.
std::vector<std::string> BubblewrapArguments(const View& view, const BubblewrapOptions& options);

}  // namespace breakwatch::capture
