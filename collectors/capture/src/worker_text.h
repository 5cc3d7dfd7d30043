// Error messages about a worker that does not work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/capture/zygote_runner.h"

namespace breakwatch::capture {

// The last line that is not blank. In a Python traceback, this is the error.
std::string LastLine(std::string_view text);

// "no capture worker starts: <reason>: <last line>; <action>", then the end of its standard error.
Error CannotStart(const ZygoteOptions& options, const std::string& why, const std::string& stderr_tail);

// "the worker speaks protocol 2, this program 1 ..."
std::string WrongProtocol(std::int64_t theirs, const std::string& worker_version);

}  // namespace breakwatch::capture
