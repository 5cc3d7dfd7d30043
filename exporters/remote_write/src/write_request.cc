#include "write_request.h"

#include <snappy.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>

namespace breakwatch::exporters {
namespace {

using protozero::pbf_tag_type;
using protozero::pbf_writer;

// The fields of prometheus/prompb: remote.proto and types.proto.
namespace field {
constexpr pbf_tag_type kTimeSeries = 1, kMetadata = 3;         // WriteRequest
constexpr pbf_tag_type kLabels = 1, kSamples = 2;              // TimeSeries
constexpr pbf_tag_type kLabelName = 1, kLabelValue = 2;        // Label
constexpr pbf_tag_type kSampleValue = 1, kSampleTime = 2;      // Sample
constexpr pbf_tag_type kType = 1, kFamilyName = 2, kHelp = 4;  // MetricMetadata
}  // namespace field
constexpr std::int32_t kCounter = 1, kGauge = 2;  // MetricMetadata.MetricType

void AddText(pbf_writer& writer, pbf_tag_type tag, std::string_view text) {
  writer.add_string(tag, text.data(), text.size());
}

}  // namespace

WriteRequest::WriteRequest(const std::vector<std::pair<std::string, std::string>>& labels) : common_(labels) {}

// Sorted by name, as receivers require. A series' own label comes before a common one of the same name.
void WriteRequest::Collect(const Series& series) {
  labels_.clear();
  const auto add = [this](std::string_view name, std::string_view value) {
    if (!value.empty()) labels_.push_back({name, value});
  };
  add("__name__", series.name);
  for (const SeriesLabel& label : series.labels) add(label.name, label.value);
  for (const auto& [name, value] : common_) add(name, value);
  std::ranges::stable_sort(labels_, {}, &SeriesLabel::name);
  const auto doubles = std::ranges::unique(labels_, {}, &SeriesLabel::name);
  labels_.erase(doubles.begin(), doubles.end());
}

// Inner messages are written to buffers of their own, because their size comes before them.
void WriteRequest::Add(const Series& series, Sample sample) {
  Collect(series);
  series_.clear();
  pbf_writer of_series(series_);
  for (const SeriesLabel& label : labels_) {
    part_.clear();
    pbf_writer of_label(part_);
    AddText(of_label, field::kLabelName, label.name);
    AddText(of_label, field::kLabelValue, label.value);
    of_series.add_message(field::kLabels, part_);
  }
  part_.clear();
  pbf_writer of_sample(part_);
  of_sample.add_double(field::kSampleValue, sample.value);
  of_sample.add_int64(field::kSampleTime, sample.time_ms);
  of_series.add_message(field::kSamples, part_);
  pbf_writer(bytes_).add_message(field::kTimeSeries, series_);
  ++size_;
}

void WriteRequest::AddMetadata(const Series& series) {
  part_.clear();
  pbf_writer metadata(part_);
  metadata.add_enum(field::kType, series.type == SeriesType::kCounter ? kCounter : kGauge);
  AddText(metadata, field::kFamilyName, series.name);
  AddText(metadata, field::kHelp, series.help);
  pbf_writer(bytes_).add_message(field::kMetadata, part_);
  ++size_;
}

void WriteRequest::Clear() {
  bytes_.clear();
  size_ = 0;
}

std::string WriteRequest::Compressed() const {
  std::string compressed;
  snappy::Compress(bytes_.data(), bytes_.size(), &compressed);
  return compressed;
}

}  // namespace breakwatch::exporters
