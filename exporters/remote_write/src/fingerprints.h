// Fingerprints: which series a snapshot has, in eight bytes a series. A million labels as text take 200 MB.
#pragma once

#include <cstdint>
#include <vector>

#include "breakwatch/core/series.h"

namespace breakwatch::exporters {

// Of name and labels. Equal only within a process. Two different series have the same one with a probability of
// 1 : 10^7 among a million series; one of them then gets no staleness marker.
std::uint64_t Fingerprint(const Series& series);

class Fingerprints {
 public:
  explicit Fingerprints(const Snapshot& snapshot);
  bool Contains(std::uint64_t fingerprint) const;

 private:
  std::vector<std::uint64_t> sorted_;
};

}  // namespace breakwatch::exporters
