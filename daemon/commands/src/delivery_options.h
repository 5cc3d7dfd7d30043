// Delivery of events and metrics, as configured in the settings.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/commands/app.h"
#include "breakwatch/config/settings.h"
#include "breakwatch/engine/delivery.h"

namespace breakwatch::commands {

// Sets all options except `report`, which the caller sets.
engine::DeliveryOptions DeliveryOptionsOf(const config::Settings& settings);
// Opens a store session for a thread of delivery, when and where it is called. `app` must outlive the result.
engine::OpenEventLog EventLogOf(const App& app);
// The names of the configured event exporters, even if they never sent anything.
std::vector<std::string> EventExporters(const config::Settings& settings);

}  // namespace breakwatch::commands
