// The daemon's own series, by prometheus-cpp: process_*, build, reload, sweeps and delivery as of now.
#pragma once

#include <string>

#include "breakwatch/api/server.h"

namespace breakwatch::api {

// Text format 0.0.4. Made anew for each scrape: state lives elsewhere, so no registry may keep a vanished label.
std::string SelfMetrics(const ServerParts& parts, const std::string& version);

}  // namespace breakwatch::api
