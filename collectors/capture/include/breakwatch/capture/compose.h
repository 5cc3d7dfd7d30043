// A toolchain combined from two: torch and its packages from one environment, the rest from another, as links.
// Nothing is installed or copied; the result is an environment with its own `bin/python`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

// Whether an entry of site-packages belongs to torch: torch itself, packages built against it, its libraries.
bool BelongsToTorch(std::string_view entry);

// Makes or replaces `target` from two environments (folders with bin/python and lib/pythonX.Y/site-packages).
// Error: kNotFound, naming a folder that is not an environment; kInvalid for different Pythons; kStore.
Result<void> ComposeToolchain(const std::string& torch_from, const std::string& rest_from, const std::string& target);

// The environments that `folder` is combined from, which a sandbox must show. Empty if it is not combined.
std::vector<std::string> ComposedOf(const std::string& folder);

}  // namespace breakwatch::capture
