// The file of measure.prices_file.
#pragma once

#include <string>

#include "breakwatch/core/prices.h"
#include "breakwatch/core/result.h"

namespace breakwatch::config {

// Reads a file of this form, in which every key is required; unknown keys, a name used twice and impossible numbers are
// refused:
//
//   currency: USD
//   machines:
//     - name: small            # as in tables
//       price_per_hour: 0.10
//       threads: 2             # that can compute at once
//
// Error: kConfig, a line with file, line and column for every problem; or the file cannot be read.
Result<Prices> ReadPrices(const std::string& path);

}  // namespace breakwatch::config
