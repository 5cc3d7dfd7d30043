// Trends: the published state at the end of each day, kept for years (`retention.trend_days`).
//
// Readers: commands, HTTP. CurrentState and SweepStore write them, with the changes of `current`. Owner, thread and
// errors: store.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"
#include "breakwatch/core/trend.h"

namespace breakwatch::store {

// Selects folds and their rows; an empty field matches any.
struct TrendFilter {
  TrendScope by = TrendScope::kAll;
  std::optional<Day> since{}, until{};  // first and last day
  std::string name{}, gb_id{};          // of rows
  // Empty: the fold of each day that was published. Otherwise the folds of this toolchain: a Key(), or the name of a
  // configured toolchain, which has one fold a day for each of its versions.
  std::string toolchain{};
  std::string mode = "eval";
};

class Trends {
 public:
  virtual ~Trends() = default;

  // By day, and then by toolchain. A fold without a matching row is absent. A store of an older version has none.
  virtual Result<std::vector<TrendFold>> ReadTrends(const TrendFilter& filter) = 0;
};

}  // namespace breakwatch::store
