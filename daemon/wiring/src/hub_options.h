// How to reach the Hub: the settings, and for unset ones the environment variables of the Hub's own clients.
#pragma once

#include "breakwatch/config/settings.h"
#include "breakwatch/hub/hub_lister.h"

namespace breakwatch::wiring {

hub::HubOptions HubOptionsOf(const config::Settings& settings);

}  // namespace breakwatch::wiring
