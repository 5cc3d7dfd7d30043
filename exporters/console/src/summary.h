// A snapshot as a few lines of text.
#pragma once

#include <string>

#include "breakwatch/core/snapshot.h"

namespace breakwatch::exporters {

// Totals by family and overall, then the `top_reasons` with the most break events. Columns are aligned.
std::string Summary(const Snapshot& snapshot, int top_reasons);

}  // namespace breakwatch::exporters
