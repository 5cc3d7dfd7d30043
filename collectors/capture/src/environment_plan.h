// What is known before an environment is made: its lock file, the release of Python, the space.
#pragma once

#include <string>

#include "breakwatch/capture/make_environment.h"

namespace breakwatch::capture {

inline constexpr const char* kMarker = "/.key";  // written last: the key of a complete environment

// Empty for a recipe without a lock file. Error: kNotFound.
Result<std::string> ReadLock(const EnvironmentRecipe& recipe);

// "3.11", of an interpreter that can make environments. Error: kUsage, it cannot.
Result<std::string> VersionOf(const std::string& python);

std::string SitePackages(const std::string& folder, const std::string& version);

// Error: kStore, with what is needed and what is there.
Result<void> CheckSpace(const EnvironmentRecipe& recipe, const EnvironmentPlan& plan);

}  // namespace breakwatch::capture
