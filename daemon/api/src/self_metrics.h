// The daemon's own metrics, built with prometheus-cpp: process_*, build, reload, sweeps and delivery.
#pragma once

#include <string>

#include "breakwatch/api/server.h"

namespace breakwatch::api {

// Text format 0.0.4. Each scrape builds a new registry, because a kept one would retain labels that disappeared.
std::string SelfMetrics(const ServerParts& parts, const std::string& version);

}  // namespace breakwatch::api
