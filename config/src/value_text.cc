#include "value_text.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "breakwatch/config/keys.h"
#include "breakwatch/core/json_text.h"
#include "text_checks.h"

namespace breakwatch::config {
namespace {

// A JSON string is a YAML string.
std::string Quoted(const std::string& text) { return JsonText(nlohmann::json(text)); }

struct Writer {
  const Key& key;
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int value) const { return std::to_string(value); }
  std::string operator()(std::int64_t value) const { return key.is_size ? SizeText(value) : std::to_string(value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const {
    char text[32];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
  std::string operator()(const std::string& value) const {
    return key.is_secret && !value.empty() ? "<secret>" : Quoted(Redacted(value));
  }
  std::string operator()(const std::vector<std::string>& value) const {
    std::string text;
    for (const std::string& item : value) text += (text.empty() ? "" : ", ") + Quoted(Redacted(item));
    return "[" + text + "]";
  }
  std::string operator()(const std::vector<ToolchainRef>& value) const {
    std::vector<std::string> texts;
    for (const ToolchainRef& toolchain : value) texts.push_back(toolchain.Text());
    return (*this)(texts);
  }
  std::string operator()(milliseconds value) const { return DurationText(value); }
  template <class T>
  std::string operator()(const std::optional<T>& value) const {
    return value ? (*this)(*value) : "null";
  }
};

// 0 if it is none: CheckMeasure refuses that.
int NumberIn(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

std::string DurationText(milliseconds duration) {
  const std::int64_t ms = duration.count();
  if (ms == 0) return "0s";
  if (ms % 3'600'000 == 0) return std::to_string(ms / 3'600'000) + "h";
  if (ms % 60'000 == 0) return std::to_string(ms / 60'000) + "m";
  if (ms % 1'000 == 0) return std::to_string(ms / 1'000) + "s";
  return std::to_string(ms) + "ms";
}

std::string SizeText(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + kUnits[unit];
}

std::string Redacted(std::string text) {
  if (const auto password = PasswordIn(text)) text.replace(password->at, password->size, "<secret>");
  return text;
}

std::string ValueText(const Key& key, const Settings& settings) {
  Settings copy = settings;
  return std::visit([&](auto field) { return Writer{key}(field(copy)); }, key.field);
}

namespace {

std::string OtlpUrl(const OtlpSettings& settings, bool wanted, const std::string& own, std::string_view path) {
  if (!settings.enabled || !wanted) return {};
  if (!own.empty() || settings.endpoint.empty()) return own;
  std::string url = settings.endpoint;
  while (url.ends_with('/')) url.pop_back();
  return url.append(path);
}

}  // namespace

std::string OtlpMetricsUrl(const OtlpSettings& settings) {
  return OtlpUrl(settings, settings.metrics, settings.metrics_endpoint, "/v1/metrics");
}
std::string OtlpLogsUrl(const OtlpSettings& settings) {
  return OtlpUrl(settings, settings.logs, settings.logs_endpoint, "/v1/logs");
}

std::string StoreUrl(const Settings& settings) {
  return settings.store.url.empty() ? "sqlite:" + settings.state_dir + "/breakwatch.db" : settings.store.url;
}

MeasureOptions MeasureOptionsOf(const MeasureSettings& settings) {
  MeasureOptions options{.backends = settings.backends,
                         .batches = {},
                         .seq = settings.seq,
                         .dynamic = settings.dynamic,
                         .threads = settings.threads,
                         .device = settings.device,
                         .full = settings.full,
                         .min_runs = settings.min_runs,
                         .min_s = std::chrono::duration<double>(settings.min_time).count(),
                         .dtype = settings.dtype};
  for (const std::string& batch : settings.batches) options.batches.push_back(NumberIn(batch));
  return options;
}

FixOptions FixOptionsOf(const CaptureSettings& settings) {
  return {.names = {},
          .combine = true,
          .budget_s = std::chrono::duration<double>(settings.fix_budget).count(),
          .attempt_s = std::chrono::duration<double>(settings.fix_attempt).count()};
}

std::string EventFilePath(const Settings& settings) {
  return settings.exporters.file.path.empty() ? settings.state_dir + "/logs/events.jsonl"
                                              : settings.exporters.file.path;
}

}  // namespace breakwatch::config
