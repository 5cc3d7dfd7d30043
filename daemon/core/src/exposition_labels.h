// Labels of series as text, and which models a shard has.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "breakwatch/core/exposition.h"
#include "breakwatch/core/text.h"
#include "exposition_writer.h"

namespace breakwatch {

inline constexpr std::size_t kMaxReasonBytes = 120;
// Of every other label: far above any real one, far below a scrape's limits.
inline constexpr std::size_t kMaxLabelBytes = 200;

inline void AddLabel(std::string& out, std::string_view name, std::string_view value) {
  AppendLabel(out, name, Truncate(ToUtf8(value), name == "reason" ? kMaxReasonBytes : kMaxLabelBytes));
}

inline std::string Labels(std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
  std::string text;
  for (const auto& [name, value] : labels) AddLabel(text, name, value);
  return text;
}

bool IsInShard(std::string_view model, Shard shard);

// What the models' newest profiles and benchmarks measured: exposition_measured.cc.
void WriteMeasurements(ExpositionWriter& out, const Snapshot& snapshot, Shard shard);

// What the fixes that were tried on the models did: exposition_fixes.cc.
void WriteFixes(ExpositionWriter& out, const Snapshot& snapshot);

}  // namespace breakwatch
