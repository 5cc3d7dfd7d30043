// Untrusted requests: all over HTTP, and on the control socket those of every user except the daemon's own.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/command.h"
#include "breakwatch/core/result.h"

namespace breakwatch::api {

// An untrusted request may name models and the configured toolchains in `toolchains`, but no program, no file and no
// code. Error: kUsage, with what may be named.
Result<void> CheckUntrusted(const SweepRequest& request, const std::vector<std::string>& toolchains);

}  // namespace breakwatch::api
