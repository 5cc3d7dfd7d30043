// The toolchains that are configured or exist beside the program, and the settings of a sweep by one of them.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/config/settings.h"
#include "breakwatch/core/capture.h"
#include "breakwatch/core/result.h"

namespace breakwatch::wiring {

// Where `breakwatch setup` makes toolchains, besides the folder of the program's data, where a source tree has its own
// (.venv and .venv-NAME): for all users, and below the user's data folder.
inline constexpr const char* kSystemToolchains = "/var/lib/breakwatch-toolchains";

// The folder that `breakwatch setup` makes a toolchain in: in a source tree beside the program's data, as root in
// kSystemToolchains, otherwise in $XDG_DATA_HOME/breakwatch/toolchains.
std::string NewToolchain(const std::string& name);

// The interpreter of the default toolchain, in the first place that has one: beside the program's data, of this user,
// of the system. Where it would be made if there is none.
std::string DefaultPython();

// The folder of the environment of this interpreter.
std::string EnvironmentOf(const std::string& python);

// The settings with a worker: capture.worker if it is set, else that of the primary toolchain.
config::Settings WithPrimary(config::Settings settings);

// The settings with another toolchain for the captures. Error: kUsage, there is no toolchain with that name.
Result<config::Settings> WithToolchain(config::Settings settings, const ToolchainRef& toolchain);

// Every configured toolchain once, the primary one first.
std::vector<std::string> ToolchainNames(const config::CaptureSettings& capture);

}  // namespace breakwatch::wiring
