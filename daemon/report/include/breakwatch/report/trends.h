// Trends as tables, and as the JSON document of an HTTP route. Pure.
//
// How `GET /api/v1/trends?by=family&since=2026-03-01&until=...` answers:
//   const auto filter = ParseTrendQuery({.by = ..., .since = ..., .until = ...}, "");  // error: 400
//   const auto folds = store.ReadTrends(*filter);                                      // error: 500
//   body = TrendDocument(*folds, *filter);
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/core/trend_query.h"
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

// One fold for each day, by day: if the name of a toolchain selected several versions, that of the newest sweep.
std::vector<TrendFold> NewestOfEachDay(std::vector<TrendFold> folds);

// At most `most` folds (at least 1) of as many equal parts of the range: the state at the end of each part, and the sum
// of its changes. `folds`: one a day.
std::vector<TrendFold> ThinnedOut(std::span<const TrendFold> folds, std::size_t most);

struct TrendBounds {
  std::size_t points = 400, series = 100;
};
// {"by", "since", "until", "toolchain", "series", "series_left_out"}. `since` and `until` are the days asked for, or
// null; `toolchain` is that of the newest fold, "" without one. A series has "family", or "reason" and "gb_id", and
// "points" by day: "day" and the numbers of TrendTable's rows without the names. A series lacks the points at which it
// had no row: its numbers were 0. Families are ordered by name, reasons by models at the last point, most first. More
// points are thinned out; further series are left out. At the default bounds it has less than 15 MB, by family less
// than 2 MB.
std::string TrendDocument(const std::vector<TrendFold>& folds, const TrendFilter& filter, TrendBounds bounds = {});

// One block character for each value, lowest to highest, and a blank for an absent one. More than `width` values are
// drawn by the last one of each `width`th part.
std::string Sparkline(std::span<const std::optional<double>> values, std::size_t width);

}  // namespace breakwatch::report
