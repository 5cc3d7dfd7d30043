// A snapshot in a few lines for human eyes.
#pragma once

#include <string>

#include "breakwatch/core/snapshot.h"

namespace breakwatch::exporters {

// Totals by family and in all, then the `top_reasons` with the most break events. Columns are aligned.
std::string Summary(const Snapshot& snapshot, int top_reasons);

}  // namespace breakwatch::exporters
