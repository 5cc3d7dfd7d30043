// Which pip commands make an environment, and the key that identifies them.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/capture/make_environment.h"

namespace breakwatch::capture {

// The arguments of `pip install`, one list for each run of pip.
using PipSteps = std::vector<std::vector<std::string>>;

// `lock`: the content of the recipe's lock file. `folder`: of the environment; with another index, the part of the lock
// file that is installed with hashes is written there.
struct PipPlan {
  PipSteps steps;
  std::string rest_of_lock;  // to be written to <folder>/lock.txt before the steps; empty: nothing
};
PipPlan PipPlanOf(const EnvironmentRecipe& recipe, const std::string& lock, const std::string& folder);

// The text whose digest is the key.
std::string KeyText(const EnvironmentRecipe& recipe, const std::string& lock);

// The requirements in a lock file ("torch==2.15.0").
std::vector<std::string> RequirementsIn(const std::string& lock);

}  // namespace breakwatch::capture
