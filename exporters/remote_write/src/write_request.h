// WriteRequest: the body of one request, series by series (prometheus.WriteRequest of remote write 1.0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/series.h"

namespace breakwatch::exporters {

// Tells a receiver that a series ended: a NaN with these bits and no other.
inline constexpr std::uint64_t kStaleMarkerBits = 0x7ff0000000000002;

struct Sample {
  double value = 0;
  std::int64_t time_ms = 0;  // since 1970
};

class WriteRequest {
 public:
  // `labels`: of every series. Those without a value are not sent, because an empty label equals none.
  explicit WriteRequest(const std::vector<std::pair<std::string, std::string>>& labels);

  void Add(const Series& series, Sample sample);
  // Type and help of the series' metric.
  void AddMetadata(const Series& series);

  std::size_t size() const { return size_; }  // what was added since Clear
  void Clear();
  std::string Compressed() const;  // Snappy's block format

 private:
  void Collect(const Series& series);

  const std::vector<std::pair<std::string, std::string>>& common_;
  std::vector<SeriesLabel> labels_;    // of the series that is added, sorted
  std::string bytes_, series_, part_;  // of the request; of one series; of one part of it
  std::size_t size_ = 0;
};

}  // namespace breakwatch::exporters
