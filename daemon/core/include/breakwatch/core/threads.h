// Errors about threads and processes that cannot be started, with the limits that apply.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "breakwatch/core/result.h"

namespace breakwatch {

// "the limit on processes and threads is reached: ulimit -u is 64 here, TasksMax (pids.max) is not set".
std::string ProcessLimits();

// Of std::thread's exception: "cannot start the lister thread: ...; " with the limits. kInternal, retryable.
Error CannotStartThread(std::string_view what, const std::system_error& error);

}  // namespace breakwatch
