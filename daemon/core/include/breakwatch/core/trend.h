// Trend: the published state at the end of each day, folded into a few numbers that are kept for years.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/clock.h"

namespace breakwatch {

using Day = std::chrono::sys_days;  // UTC
Day DayOf(SystemTime time);
std::string FormatDay(Day day);  // "2026-03-01"
std::optional<Day> ParseDay(std::string_view text);

enum class TrendScope { kAll, kFamily, kReason };
std::string_view TrendScopeName(TrendScope scope);  // "all", "family", "reason"
std::optional<TrendScope> ParseTrendScope(std::string_view name);

// Numbers of the tracked models in one scope. What a scope lacks is 0.
struct TrendNumbers {
  std::int64_t models_tracked = 0, models_with_numbers = 0;  // of all families if the scope is a reason
  std::int64_t full_graph = 0;                               // models with numbers and without breaks; 0 for a reason
  std::int64_t models = 0;                                   // models with breaks, of this reason
  std::int64_t breaks = 0, break_sites = 0;
  std::int64_t leverage = 0;  // of a reason: models whose breaks all have it
  // The published state compared with that of the day folded before; 0 for a reason and for further toolchains.
  // `fixed` models had breaks and have none now, `broken` is the reverse; `came` and `departed` got and lost numbers.
  // All of these add up over days.
  std::int64_t fixed = 0, broken = 0;
  std::int64_t breaks_change = 0;  // change in break events of the models that had numbers on both days
  std::int64_t came = 0, came_full_graph = 0, departed = 0, departed_full_graph = 0;
  bool operator==(const TrendNumbers&) const = default;
};

// The name of each number: column of the store, field of JSON and CSV.
struct TrendField {
  const char* name;
  std::int64_t TrendNumbers::*value;
  bool adds_up = false;  // a change since the day before, and no state
};
inline constexpr std::array kTrendFields{
    TrendField{"models_tracked", &TrendNumbers::models_tracked},
    TrendField{"models_with_numbers", &TrendNumbers::models_with_numbers},
    TrendField{"full_graph", &TrendNumbers::full_graph},
    TrendField{"models", &TrendNumbers::models},
    TrendField{"breaks", &TrendNumbers::breaks},
    TrendField{"break_sites", &TrendNumbers::break_sites},
    TrendField{"leverage", &TrendNumbers::leverage},
    TrendField{"fixed", &TrendNumbers::fixed, true},
    TrendField{"broken", &TrendNumbers::broken, true},
    TrendField{"breaks_change", &TrendNumbers::breaks_change, true},
    TrendField{"came", &TrendNumbers::came, true},
    TrendField{"came_full_graph", &TrendNumbers::came_full_graph, true},
    TrendField{"departed", &TrendNumbers::departed, true},
    TrendField{"departed_full_graph", &TrendNumbers::departed_full_graph, true},
};

struct TrendRow {
  TrendScope scope = TrendScope::kAll;
  std::string name, gb_id;  // the family; the reason and its id; empty for all
  TrendNumbers numbers;
  bool operator==(const TrendRow&) const = default;
};

// The state by one toolchain in mode `eval` after the last sweep of a day.
struct TrendFold {
  Day day{};
  std::string toolchain;       // Toolchain::Key()
  std::string mode;            // "eval"
  std::string sweep_id;        // the sweep after which it was folded
  SystemTime at{};             // its end
  bool published = false;      // the numbers of this toolchain were the published ones: one fold of each day
  std::vector<TrendRow> rows;  // ordered by (scope, name, gb_id)
  bool operator==(const TrendFold&) const = default;
};

// What one step of the fold of the history adds.
struct TrendChange {
  std::vector<TrendFold> folds;  // in order: the last of a day counts
  int keep_days = 0;             // folds of older days are removed; counts days with a fold; 0: none is removed
  bool only_missing = false;     // a stored fold of the same day, toolchain and mode stays
};

}  // namespace breakwatch
