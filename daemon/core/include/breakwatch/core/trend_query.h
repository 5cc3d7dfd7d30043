// TrendQuery: which trends an option or an HTTP parameter asks for, checked and made a filter. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "breakwatch/core/result.h"
#include "breakwatch/core/trend.h"

namespace breakwatch {

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

// The texts as they were given; an empty one selects any. A family or a reason also selects the scope.
struct TrendQuery {
  std::string by = "all";      // "all", "family" or "reason"
  std::string since, until;    // "2026-03-01"
  std::string family, reason;  // reason: its text or its id ("GB0170")
  std::string toolchain;
};

// `prefix` precedes the names in errors: "--" for options, "" for HTTP parameters. Error: kUsage.
Result<TrendFilter> ParseTrendQuery(const TrendQuery& query, std::string_view prefix);

}  // namespace breakwatch
