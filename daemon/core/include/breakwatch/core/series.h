// EachSeries: the samples of a snapshot one at a time, for exporters whose format is not the text format.
//
// They are read from what WriteExposition writes, so that every exporter publishes the same series as the gateway.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "breakwatch/core/exposition.h"

namespace breakwatch {

struct SeriesLabel {
  std::string_view name;
  std::string_view value;  // UTF-8, without escapes
};

enum class SeriesType { kCounter, kGauge };

// The views are valid during the call only.
struct Series {
  std::string_view name, help;
  SeriesType type = SeriesType::kGauge;
  std::span<const SeriesLabel> labels;  // in the order of the text; without __name__
  double value = 0;
};

using SeriesSink = std::function<void(const Series&)>;

// Metric by metric: all series of one are consecutive, and no two have equal labels. Needs memory for one line.
void EachSeries(const Snapshot& snapshot, Shard shard, const SeriesSink& sink);

}  // namespace breakwatch
