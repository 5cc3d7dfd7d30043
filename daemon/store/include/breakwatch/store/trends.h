// Trends: the published state at the end of each day, kept for years (`retention.trend_days`).
//
// Readers: commands, HTTP. CurrentState and SweepStore write them, with the changes of `current`. Owner, thread and
// errors: store.h.
#pragma once

#include <vector>

#include "breakwatch/core/result.h"
#include "breakwatch/core/trend_query.h"

namespace breakwatch::store {

class Trends {
 public:
  virtual ~Trends() = default;

  // By day, and then by toolchain. A fold without a matching row has no rows. A store of an older version has none.
  virtual Result<std::vector<TrendFold>> ReadTrends(const TrendFilter& filter) = 0;
};

}  // namespace breakwatch::store
