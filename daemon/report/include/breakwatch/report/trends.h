// Trends as tables. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "breakwatch/core/trend.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

// A row per day and series: all models, a family or a reason. `by`: the scope of all rows. Fields: day, family or
// reason and gb_id, toolchain, mode, sweep_id, models_tracked, models_with_numbers, then without a reason full_graph,
// full_graph_share, models, breaks, break_sites, fixed, broken, breaks_change, came, came_full_graph, departed,
// departed_full_graph; with a reason models, breaks, break_sites, leverage.
Table TrendTable(std::span<const TrendFold> folds, TrendScope by);

// For people, a row per series: its first and its last day, and the sum of the changes after the first. `folds`: one a
// day. `draw`: with a column of Sparkline, for a terminal with UTF-8.
Table TrendSummary(std::span<const TrendFold> folds, TrendScope by, bool draw);

// One block character for each value, lowest to highest, and a blank for an absent one. More than `width` values are
// drawn by the last one of each `width`th part.
std::string Sparkline(std::span<const std::optional<double>> values, std::size_t width);

}  // namespace breakwatch::report
