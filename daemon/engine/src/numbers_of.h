// Extracts the numbers of a capture, and sums those of all published captures.
#pragma once

#include <optional>
#include <vector>

#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::engine {

// The numbers of a result. Its status must satisfy HasNumbers.
Numbers NumbersOf(const ModelResult& result);

// What a result of a measure mode found; nullopt if it measured nothing.
std::optional<Measurement> MeasurementOf(const ModelResult& result);

// The reasons of a snapshot's published numbers, ordered by (reason, gb_id).
std::vector<ReasonInfo> ReasonsOf(const Snapshot& snapshot);

}  // namespace breakwatch::engine
