// How events and metrics are delivered, as the settings say.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/config/settings.h"
#include "breakwatch/engine/delivery.h"

namespace breakwatch::commands {

// All but `report`, which is the caller's.
engine::DeliveryOptions DeliveryOptionsOf(const config::Settings& settings);
// The names of the event exporters that the settings configure, whether they ever sent or not.
std::vector<std::string> EventExporters(const config::Settings& settings);

}  // namespace breakwatch::commands
