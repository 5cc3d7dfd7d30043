// The packaged Pushgateway on loopback, for those who have none configured.
#pragma once

#include "breakwatch/commands/app.h"

namespace breakwatch::commands {

// With no gateway configured: uses the one on 127.0.0.1:9091, or starts the packaged program there, says so, and
// sets exporters.pushgateway.url for this run. It stays after the run; <state>/pushgateway.pid names its process.
// Without the program: says so and goes on without.
void UseLocalGateway(App& app);

}  // namespace breakwatch::commands
