// Untrusted requests: all requests over HTTP, and those of other users on the control socket.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/command.h"
#include "breakwatch/core/result.h"

namespace breakwatch::api {

// An untrusted request may name models and the configured toolchains in `toolchains`, but no program, file or code.
// Error: kUsage with the names that are allowed.
Result<void> CheckUntrusted(const SweepRequest& request, const std::vector<std::string>& toolchains);

}  // namespace breakwatch::api
