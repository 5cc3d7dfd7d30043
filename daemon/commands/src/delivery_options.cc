#include "delivery_options.h"

#include <utility>

namespace breakwatch::commands {

engine::DeliveryOptions DeliveryOptionsOf(const config::Settings& settings) {
  engine::DeliveryOptions options;
  options.first_backoff = settings.delivery.first_backoff;
  options.max_backoff = settings.delivery.max_backoff;
  options.check_target = settings.delivery.check_target;
  options.metric_interval = settings.delivery.metric_interval;
  options.linger = settings.delivery.linger;
  options.batch_events = settings.delivery.batch_events;
  options.batch_bytes = static_cast<std::size_t>(settings.delivery.batch_bytes);
  return options;
}

engine::OpenEventLog EventLogOf(const App& app) {
  return [&app]() -> Result<std::unique_ptr<store::EventLog>> {
    auto opened = app.open_store(app.settings(), /*read_only=*/false);
    if (!opened) return opened.error();
    return std::unique_ptr<store::EventLog>(*std::move(opened));
  };
}

std::vector<std::string> EventExporters(const config::Settings& settings) {
  std::vector<std::string> names;
  if (!settings.exporters.loki.url.empty()) names.emplace_back("loki");
  if (!config::OtlpLogsUrl(settings.exporters.otlp).empty()) names.emplace_back("otlp_logs");
  if (settings.exporters.file.enabled) names.emplace_back("file");
  if (settings.exporters.console.enabled) names.emplace_back("console");
  return names;
}

}  // namespace breakwatch::commands
