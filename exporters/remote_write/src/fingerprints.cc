#include "fingerprints.h"

#include <algorithm>
#include <functional>

namespace breakwatch::exporters {

std::uint64_t Fingerprint(const Series& series) {
  // Mixed after every text, so that equal texts at different places differ.
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  const std::hash<std::string_view> hash;
  std::uint64_t mixed = hash(series.name);
  const auto add = [&](std::string_view text) { mixed = (mixed ^ (mixed >> 29)) * kMix + hash(text); };
  for (const SeriesLabel& label : series.labels) {
    if (label.value.empty()) continue;  // equals none
    add(label.name);
    add(label.value);
  }
  return mixed;
}

Fingerprints::Fingerprints(const Snapshot& snapshot) {
  EachSeries(snapshot, {}, [this](const Series& series) { sorted_.push_back(Fingerprint(series)); });
  std::ranges::sort(sorted_);
}

bool Fingerprints::Contains(std::uint64_t fingerprint) const {
  return std::ranges::binary_search(sorted_, fingerprint);
}

}  // namespace breakwatch::exporters
