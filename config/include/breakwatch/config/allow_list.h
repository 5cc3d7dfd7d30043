// The allow-list of the gate: YAML, beside the baseline.
#pragma once

#include <string>

#include "breakwatch/core/allow_list.h"
#include "breakwatch/core/result.h"

namespace breakwatch::config {

// Reads a file of this form; unknown keys, missing keys and impossible dates are refused:
//
//   allow:                      # accepted breaks
//     - model: org/name         # or `site: 3f9a1c2b...`, or `reason: GB0170`
//       owner: team-compile
//       why: waits for the next transformers
//       expires: 2027-01-31     # the last day
//   flaky:                      # models whose results vary from run to run; the same keys
//     - model: org/other
//       ...
//
// Error: kConfig, with file, line and column of every problem; kStore if it cannot be read.
Result<AllowList> ReadAllowList(const std::string& path);

}  // namespace breakwatch::config
