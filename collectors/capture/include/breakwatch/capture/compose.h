// A toolchain made of two: torch and what belongs to it from one environment, the rest from another, as links.
// Nothing is installed or copied; the result is an environment like any other, with a `bin/python` of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

// Whether an entry of site-packages goes with torch: torch itself, what is built against it, and what it computes with.
bool BelongsToTorch(std::string_view entry);

// Makes or replaces `target` from two environments (folders with bin/python and lib/pythonX.Y/site-packages).
// Error: kNotFound, naming an environment that is none; kInvalid where they are of different Pythons; kStore.
Result<void> ComposeToolchain(const std::string& torch_from, const std::string& rest_from, const std::string& target);

// The environments that `folder` was composed of: what a sandbox has to leave visible. Empty when it was not.
std::vector<std::string> ComposedOf(const std::string& folder);

}  // namespace breakwatch::capture
