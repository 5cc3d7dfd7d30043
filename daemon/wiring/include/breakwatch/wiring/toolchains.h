// The toolchains that are configured or lie beside the program, and the settings that a sweep by one of them has.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/config/settings.h"
#include "breakwatch/core/capture.h"
#include "breakwatch/core/result.h"

namespace breakwatch::wiring {

// The folder of the environment whose interpreter this is.
std::string EnvironmentOf(const std::string& python);

// The settings with a worker: capture.worker where it is set, else the primary toolchain's.
config::Settings WithPrimary(config::Settings settings);

// The settings with another toolchain as the one that captures. Error: kUsage, no toolchain of that name is there.
Result<config::Settings> WithToolchain(config::Settings settings, const ToolchainRef& toolchain);

// Every toolchain that is configured, once each, the primary one first.
std::vector<std::string> ToolchainNames(const config::CaptureSettings& capture);

}  // namespace breakwatch::wiring
