// Makes the events of a sweep from its values. No side effects; the loop stores the events together with their cause.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/event.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::engine {

// sweep_started (or sweep_resumed), and one model_planned for each model that is not skipped.
std::vector<Event> BeginEvents(const Sweep& sweep, const Plan& plan);
Event SweepResumed(const Sweep& sweep, std::size_t already_done);

// model_captured, _unchanged, _skipped or _failed. A result that is new for its repository also gets one graph_break
// per site. Compared with the numbers before it, it also gets reason_new and reason_fixed. `before`: the model's row
// before this result, or null. `published`: the toolchain whose numbers are used if this one has none.
std::vector<Event> ResultEvents(const ModelResult& result, const TrackedModel* before, const std::string& published);

Event SweepFinished(const Sweep& sweep);
Event SweepFailed(const std::string& sweep_id, const Error& error);
Event ConfigReloaded(const Error* refused);  // null: the new settings are used

}  // namespace breakwatch::engine
