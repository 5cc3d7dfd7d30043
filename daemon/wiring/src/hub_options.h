// How the Hub is asked: the settings, and where they are silent the variables of the Hub's own clients.
#pragma once

#include "breakwatch/config/settings.h"
#include "breakwatch/hub/hub_lister.h"

namespace breakwatch::wiring {

hub::HubOptions HubOptionsOf(const config::Settings& settings);

}  // namespace breakwatch::wiring
