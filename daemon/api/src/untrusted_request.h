// Strangers: whoever asks over HTTP, and on the control socket every user but the daemon's own.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/command.h"
#include "breakwatch/core/result.h"

namespace breakwatch::api {

// A stranger names models and configured toolchains: nothing that is run, and no file. `toolchains`: every name that
// is configured. Error: kUsage, saying what may be named.
Result<void> CheckUntrusted(const SweepRequest& request, const std::vector<std::string>& toolchains);

}  // namespace breakwatch::api
