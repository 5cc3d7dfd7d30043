// OTLP's messages as breakwatch uses them: which fields, in which order (opentelemetry-proto 1.10).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "breakwatch/core/event.h"
#include "breakwatch/core/series.h"
#include "message_writer.h"

namespace breakwatch::exporters::otlp {

using Resource = std::vector<std::pair<std::string, std::string>>;

// Open a request down to the list of its metrics or log records.
void BeginMetrics(MessageWriter& out, const Resource& resource, std::string_view version);
void BeginLogs(MessageWriter& out, const Resource& resource, std::string_view version);

struct PointTimes {
  std::uint64_t start_ns = 0;  // of this process
  std::uint64_t now_ns = 0;
};

// How the values of a metric are to be read.
enum class MetricKind {
  kGauge,
  kState,    // a counter by its name that is replaced, not added to
  kTotal,    // only grows, over all processes: nobody knows since when
  kCounter,  // only grows, counted by this process
};
MetricKind KindOf(const Series& series);

// Opens the metric of a series; two End close it.
void BeginMetric(MessageWriter& out, const Series& series, MetricKind kind);
void WritePoint(MessageWriter& out, const Series& series, MetricKind kind, const PointTimes& times);

void WriteLogRecord(MessageWriter& out, const StoredEvent& event);

}  // namespace breakwatch::exporters::otlp
