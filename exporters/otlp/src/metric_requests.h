// Splits the series of a snapshot into requests of a bounded size, while they come.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "messages.h"

namespace breakwatch::exporters::otlp {

// A request with so many data points.
using RequestSink = std::function<void(std::string body, std::size_t points)>;

// Thread: its owner's. A metric that is in several requests begins anew in each.
class MetricRequests {
 public:
  // `max_bytes`: of a request, exceeded only by a single data point that is larger.
  MetricRequests(const OtlpOptions& options, std::size_t max_bytes, PointTimes times, RequestSink sink);

  // Series of one metric must follow each other.
  void Add(const Series& series);
  void Finish();  // the rest; nothing if there is none

 private:
  void Begin(const Series& series);
  void Flush();

  const OtlpOptions& options_;
  const std::size_t max_bytes_;
  const PointTimes times_;
  const RequestSink sink_;
  std::unique_ptr<MessageWriter> writer_;
  std::string metric_;  // that is open; empty: none
  MetricKind kind_ = MetricKind::kGauge;
  std::size_t points_ = 0;
};

}  // namespace breakwatch::exporters::otlp
