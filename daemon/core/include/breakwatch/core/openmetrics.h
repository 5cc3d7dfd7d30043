// Trends in the OpenMetrics text format (1.0.0) with timestamps, for `promtool tsdb create-blocks-from openmetrics`.
// The names are those of dashboards/rules, for what means the same.
#pragma once

#include <span>
#include <string>

#include "breakwatch/core/exposition.h"
#include "breakwatch/core/trend.h"

namespace breakwatch {

struct SeriesGroup {
  std::string job, pool;  // labels of all series; no pool if empty
};

// `folds`: one for each day and scope, ordered by day within a scope. A sample's time is the end of the fold's
// sweep, in whole seconds. Ordered by metric, then series, then time; ends with "# EOF".
void WriteOpenMetrics(std::span<const TrendFold> folds, const SeriesGroup& group, const TextSink& sink);

}  // namespace breakwatch
