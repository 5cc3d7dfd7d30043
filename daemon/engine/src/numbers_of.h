// What the fold takes from a capture, and what all published captures say together.
#pragma once

#include <vector>

#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::engine {

// The numbers of a result whose status HasNumbers.
Numbers NumbersOf(const ModelResult& result);

// The reasons of a snapshot's published numbers, ordered by (reason, gb_id).
std::vector<ReasonInfo> ReasonsOf(const Snapshot& snapshot);

}  // namespace breakwatch::engine
