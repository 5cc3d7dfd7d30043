// The times of a measurement, for a baseline.
#pragma once

#include <string>

#include "breakwatch/core/measure.h"

namespace breakwatch {

// Medians and intervals of the totals, with the conditions, as one line of JSON that ReadMeasured reads.
std::string TimesJson(const Measured& measured);

}  // namespace breakwatch
