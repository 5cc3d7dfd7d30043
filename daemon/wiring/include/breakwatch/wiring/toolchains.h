// The toolchains that are configured or exist beside the program, and the settings of a sweep by one of them.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/config/settings.h"
#include "breakwatch/core/capture.h"
#include "breakwatch/core/result.h"

namespace breakwatch::wiring {

// The interpreter of the environment that `make venv` makes, relative to the program's folder.
inline constexpr const char* kDefaultPython = ".venv/bin/python";

// The folder of the environment of this interpreter.
std::string EnvironmentOf(const std::string& python);

// The settings with a worker: capture.worker if it is set, else that of the primary toolchain.
config::Settings WithPrimary(config::Settings settings);

// The settings with another toolchain for the captures. Error: kUsage, there is no toolchain with that name.
Result<config::Settings> WithToolchain(config::Settings settings, const ToolchainRef& toolchain);

// Every configured toolchain once, the primary one first.
std::vector<std::string> ToolchainNames(const config::CaptureSettings& capture);

}  // namespace breakwatch::wiring
