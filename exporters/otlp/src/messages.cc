#include "messages.h"

#include <algorithm>

#include "breakwatch/core/text.h"
#include "line_head.h"

namespace breakwatch::exporters::otlp {
namespace {

// --- common.proto, resource.proto

constexpr Field kKey{1, "key"}, kValue{2, "value"};
constexpr Field kStringValue{1, "stringValue"}, kIntValue{3, "intValue"};
constexpr Field kResourceAttributes{1, "attributes"};
constexpr Field kScopeName{1, "name"}, kScopeVersion{2, "version"};
// Both signals have the same numbers: ResourceMetrics and ResourceLogs, ScopeMetrics and ScopeLogs.
constexpr Field kResource{1, "resource"}, kScope{1, "scope"};

constexpr std::string_view kScopeIs = "breakwatch";

void WriteText(MessageWriter& out, Field list, std::string_view name, std::string_view value) {
  out.Item(list);
  out.Text(kKey, name);
  out.Begin(kValue);
  out.Text(kStringValue, value);
  out.End();
  out.End();
}

void WriteInt(MessageWriter& out, Field list, std::string_view name, std::int64_t value) {
  out.Item(list);
  out.Text(kKey, name);
  out.Begin(kValue);
  out.Int64(kIntValue, value);
  out.End();
  out.End();
}

// --- metrics.proto

constexpr Field kResourceMetrics{1, "resourceMetrics"}, kScopeMetrics{2, "scopeMetrics"}, kMetrics{2, "metrics"};
constexpr Field kMetricName{1, "name"}, kDescription{2, "description"}, kUnit{3, "unit"};
constexpr Field kGauge{5, "gauge"}, kSum{7, "sum"};
constexpr Field kDataPoints{1, "dataPoints"}, kTemporality{2, "aggregationTemporality"}, kIsMonotonic{3, "isMonotonic"};
constexpr Field kStartTime{2, "startTimeUnixNano"}, kTime{3, "timeUnixNano"}, kAsDouble{4, "asDouble"},
    kPointAttributes{7, "attributes"};
constexpr int kCumulative = 2;  // AGGREGATION_TEMPORALITY_CUMULATIVE

// UCUM, by the end of the name. "1" is not one of them: Prometheus would add "_ratio" to the name.
constexpr std::pair<std::string_view, std::string_view> kUnits[] = {
    {"_seconds", "s"}, {"_seconds_total", "s"}, {"_bytes", "By"}};

// Counters that the process does not count from 0.
using KnownKind = std::pair<std::string_view, MetricKind>;
constexpr KnownKind kOtherCounters[] = {{"compile_breaks_total", MetricKind::kState},
                                        {"breakwatch_depth_mismatches_total", MetricKind::kTotal}};

std::string_view UnitOf(std::string_view name) {
  const auto unit = std::ranges::find_if(kUnits, [&](const auto& known) { return name.ends_with(known.first); });
  return unit == std::end(kUnits) ? std::string_view() : unit->second;
}

// --- logs.proto

constexpr Field kResourceLogs{1, "resourceLogs"}, kScopeLogs{2, "scopeLogs"}, kLogRecords{2, "logRecords"};
constexpr Field kLogTime{1, "timeUnixNano"}, kSeverityNumber{2, "severityNumber"}, kSeverityText{3, "severityText"},
    kBody{5, "body"}, kLogAttributes{6, "attributes"}, kObservedTime{11, "observedTimeUnixNano"},
    kEventName{12, "eventName"};

struct Severity {
  std::string_view level;
  int number;
};
constexpr Severity kSeverities[] = {{"debug", 5}, {"info", 9}, {"warn", 13}, {"error", 17}};

int SeverityOf(std::string_view level) {
  const auto known = std::ranges::find(kSeverities, level, &Severity::level);
  return known == std::end(kSeverities) ? 0 : known->number;
}

void BeginScope(MessageWriter& out, Field resources, Field scopes, const Resource& resource, std::string_view version) {
  out.Item(resources);
  out.Begin(kResource);
  for (const auto& [name, value] : resource) WriteText(out, kResourceAttributes, name, value);
  out.End();
  out.Item(scopes);
  out.Begin(kScope);
  out.Text(kScopeName, kScopeIs);
  out.Text(kScopeVersion, version);
  out.End();
}

}  // namespace

void BeginMetrics(MessageWriter& out, const Resource& resource, std::string_view version) {
  BeginScope(out, kResourceMetrics, kScopeMetrics, resource, version);
}

void BeginLogs(MessageWriter& out, const Resource& resource, std::string_view version) {
  BeginScope(out, kResourceLogs, kScopeLogs, resource, version);
}

MetricKind KindOf(const Series& series) {
  if (series.type != SeriesType::kCounter) return MetricKind::kGauge;
  const auto other = std::ranges::find(kOtherCounters, series.name, &KnownKind::first);
  return other == std::end(kOtherCounters) ? MetricKind::kCounter : other->second;
}

void BeginMetric(MessageWriter& out, const Series& series, MetricKind kind) {
  out.Item(kMetrics);
  out.Text(kMetricName, series.name);
  out.Text(kDescription, series.help);
  if (const std::string_view unit = UnitOf(series.name); !unit.empty()) out.Text(kUnit, unit);
  out.Begin(kind == MetricKind::kGauge ? kGauge : kSum);
  if (kind == MetricKind::kGauge) return;
  out.Enum(kTemporality, kCumulative);
  if (kind != MetricKind::kState) out.Bool(kIsMonotonic, true);
}

void WritePoint(MessageWriter& out, const Series& series, MetricKind kind, const PointTimes& times) {
  out.Item(kDataPoints);
  if (kind == MetricKind::kCounter) out.Fixed64(kStartTime, times.start_ns);
  out.Fixed64(kTime, times.now_ns);
  out.Double(kAsDouble, series.value);
  for (const auto& [name, value] : series.labels) WriteText(out, kPointAttributes, name, value);
  out.End();
}

void WriteLogRecord(MessageWriter& out, const StoredEvent& event) {
  const LineHead head = ReadLineHead(event.line);
  out.Item(kLogRecords);
  out.Fixed64(kLogTime, static_cast<std::uint64_t>(event.ts_ns));
  out.Enum(kSeverityNumber, SeverityOf(head.level));
  out.Text(kSeverityText, ToUtf8(head.level));
  out.Begin(kBody);
  out.Text(kStringValue, ToUtf8(event.line));
  out.End();
  WriteInt(out, kLogAttributes, "event_id", event.id);
  const std::pair<std::string_view, const std::string&> texts[] = {
      {"event.name", head.name}, {"sweep_id", event.sweep_id}, {"model", event.model}, {"commit", event.commit}};
  for (const auto& [name, value] : texts)
    if (!value.empty()) WriteText(out, kLogAttributes, name, ToUtf8(value));
  out.Fixed64(kObservedTime, static_cast<std::uint64_t>(event.ts_ns));  // not now: a resend has the same bytes
  out.Text(kEventName, ToUtf8(head.name));
  out.End();
}

}  // namespace breakwatch::exporters::otlp
