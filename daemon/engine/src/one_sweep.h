// One sweep by one toolchain, from its request to its end. Thread: the loop's.
#pragma once

#include "loop_state.h"
#include "requests.h"

namespace breakwatch::engine {

// Begins a new sweep, or resumes the newest unfinished one, and captures its plan. Tells the clients of the request
// which sweep serves it, or that none does. A failure is stored as an event and reported. Error: as Loop::RunSweep's.
Result<Sweep> RunSweep(LoopState& state, const Request& request);

}  // namespace breakwatch::engine
