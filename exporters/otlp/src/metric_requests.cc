#include "metric_requests.h"

#include <utility>

namespace breakwatch::exporters::otlp {
namespace {

// More than a data point with its metric has: labels have at most 200 bytes.
constexpr std::size_t kPointBytes = 4096;

}  // namespace

MetricRequests::MetricRequests(const OtlpOptions& options, std::size_t max_bytes, PointTimes times, RequestSink sink)
    : options_(options),
      max_bytes_(max_bytes),
      times_(times),
      sink_(std::move(sink)),
      writer_(MakeMessageWriter(options.encoding)) {}

void MetricRequests::Add(const Series& series) {
  if (points_ > 0 && writer_->bytes() + kPointBytes > max_bytes_) Flush();
  if (metric_ != series.name || points_ == 0) Begin(series);
  WritePoint(*writer_, series, kind_, times_);
  ++points_;
}

void MetricRequests::Begin(const Series& series) {
  if (points_ == 0) {
    BeginMetrics(*writer_, options_.resource, options_.scope_version);
  } else {
    writer_->End();
    writer_->End();
  }
  metric_ = series.name;
  kind_ = KindOf(series);
  BeginMetric(*writer_, series, kind_);
}

void MetricRequests::Flush() { sink_(writer_->Take(), std::exchange(points_, 0)); }

void MetricRequests::Finish() {
  if (points_ > 0) Flush();
}

}  // namespace breakwatch::exporters::otlp
