// Ends unfinished sweeps that are never resumed. Thread: the loop's.
#pragma once

#include <vector>

#include "loop_state.h"

namespace breakwatch::engine {

// A new listing makes older unfinished sweeps obsolete: resuming one later would replace new results by old ones.
// Updates the fold in memory; the caller stores the changes.
Result<std::vector<store::SweepEnd>> GiveUpUnfinished(LoopState& state);

// A sweep cannot continue if a model of its plan is missing, because captures are named by their index. It must not be
// resumed repeatedly either, so its end is stored. Returns the error of the request that wanted to resume it.
Error GiveUpDamaged(LoopState& state, const Sweep& sweep);

}  // namespace breakwatch::engine
