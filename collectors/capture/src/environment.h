// The environment variables of a worker: the few of ours that it needs, and those that make its libraries quiet and
// single-threaded.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/capture/zygote_runner.h"

namespace breakwatch::capture {

// As "NAME=value", ready for exec. Temporary files go to `folder`, unless it is empty.
std::vector<std::string> WorkerEnvironment(const ZygoteOptions& options, const std::string& folder);

}  // namespace breakwatch::capture
