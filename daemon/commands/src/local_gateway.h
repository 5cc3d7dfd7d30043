// The packaged Pushgateway on loopback, for users without a configured gateway.
#pragma once

#include "breakwatch/commands/app.h"

namespace breakwatch::commands {

// If no gateway is configured: uses the one on 127.0.0.1:9091, or starts the packaged program there and prints a
// message. Sets exporters.pushgateway.url for this run. The gateway keeps running afterwards; <state>/pushgateway.pid
// holds its process ID.
// If the program is missing: prints a message and continues without a gateway.
void UseLocalGateway(App& app);

}  // namespace breakwatch::commands
