// Folds the published state into the numbers of a day.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/trend.h"
#include "breakwatch/engine/aggregate.h"

namespace breakwatch::engine {

// What a later fold compares with: the published numbers of each model, without their reasons.
struct TrendModel {
  Family family = Family::kUnknown;
  std::int64_t breaks = 0;
};
using TrendModels = std::map<std::string, TrendModel>;

// The published models at the last fold of a day, and at that of the day folded before it. Several sweeps of one day
// compare with the same state, so that the last of them replaces the others.
struct TrendMemory {
  Day day{};
  TrendModels last;
  std::optional<TrendModels> before;  // none: there is no earlier day
};
std::string ToJson(const TrendMemory& memory);
// nullopt if nothing was folded yet.
std::optional<TrendMemory> TrendMemoryFromJson(const std::string& text);

// The rows of the tracked models by one toolchain: `toolchain` is its Key().
std::vector<TrendRow> FoldTrend(const TrackedRows& models, const std::string& toolchain);
// The same models, for the memory.
TrendModels TrendModelsOf(const TrackedRows& models, const std::string& toolchain);
// Adds the changes between two states to the rows.
void AddTrendChanges(const TrendModels& before, const TrendModels& now, std::vector<TrendRow>& rows);

}  // namespace breakwatch::engine
