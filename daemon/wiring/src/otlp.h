// Makes the exporters of exporters.otlp.
#pragma once

#include "breakwatch/wiring/wiring.h"

namespace breakwatch::wiring {

// One for each signal that has an endpoint.
Result<void> AddOtlp(const App& app, const Settings& settings, engine::DeliveryThreads::Exporters& out);

}  // namespace breakwatch::wiring
