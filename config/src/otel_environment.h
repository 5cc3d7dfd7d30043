// The variables of the OpenTelemetry specification, as settings of exporters.otlp.
#pragma once

#include <map>
#include <string>

#include "breakwatch/config/load.h"

namespace breakwatch::config {

// Fills settings that have their default, after all other sources. These variables are meant for every program of a
// machine, so they never stop this one: as the specification has it, an empty variable counts as unset, and one with a
// wrong value is ignored with a warning. For the same reason an endpoint of theirs is not required.
void ApplyOtelEnvironment(const std::map<std::string, std::string>& environment, Loaded& loaded);

}  // namespace breakwatch::config
