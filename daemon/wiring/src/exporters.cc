#include <iostream>
#include <utility>

#include "breakwatch/config/pairs.h"
#include "breakwatch/exporters/console.h"
#include "breakwatch/exporters/event_file.h"
#include "breakwatch/exporters/loki.h"
#include "breakwatch/exporters/pushgateway.h"
#include "breakwatch/exporters/remote_write.h"
#include "breakwatch/net/http.h"
#include "breakwatch/wiring/wiring.h"
#include "otlp.h"
#include "reach.h"

namespace breakwatch::wiring {
namespace {

// The journal of gateway groups, on a store session that the exporter opens on its thread when it first needs it.
class StoredJournal final : public exporters::GroupJournal {
 public:
  StoredJournal(const App& app, std::string gateway) : app_(app), gateway_(std::move(gateway)) {}
  Result<std::vector<std::string>> Load() override {
    if (auto opened = Open(); !opened) return opened.error();
    return groups_->OwnedGroups(gateway_);
  }
  Result<void> Save(const std::vector<std::string>& groups) override {
    if (auto opened = Open(); !opened) return opened.error();
    return groups_->SetOwnedGroups(gateway_, groups);
  }

 private:
  Result<void> Open() {
    if (groups_) return {};
    auto opened = app_.open_store(app_.settings(), /*read_only=*/false);
    if (!opened) return opened.error();
    groups_ = std::move(*opened);
    return {};
  }

  const App& app_;
  const std::string gateway_;
  std::unique_ptr<store::GatewayGroups> groups_;
};

Result<std::unique_ptr<MetricExporter>> MakePushgateway(const App& app, const config::PushgatewaySettings& s) {
  exporters::PushgatewayOptions options;
  if (auto reached = SetReach(s, s.url, options); !reached) return reached.error();
  options.gzip = s.gzip;
  options.job = s.job;
  options.pool = s.pool;
  options.shards = s.shards;
  return exporters::MakePushgateway(options, std::make_unique<StoredJournal>(app, s.url),
                                    net::MakeHttpSender(kUserAgent, app.give_up.get_token()));
}

Result<std::unique_ptr<EventExporter>> MakeLoki(const App& app, const config::LokiSettings& s) {
  exporters::LokiOptions options;
  if (auto reached = SetReach(s, s.url, options); !reached) return reached.error();
  options.gzip = s.gzip;
  options.tenant = s.tenant;
  options.environment = s.environment;
  options.pool = s.pool;
  using exporters::StructuredMetadata, exporters::TooOld;
  options.structured_metadata = s.structured_metadata == "auto"   ? StructuredMetadata::kAuto
                                : s.structured_metadata == "true" ? StructuredMetadata::kOn
                                                                  : StructuredMetadata::kOff;
  options.max_age = s.max_age;
  options.too_old = s.too_old == "drop"      ? TooOld::kDrop
                    : s.too_old == "restamp" ? TooOld::kRestamp
                                             : TooOld::kDeadLetter;
  return exporters::MakeLoki(options, net::MakeHttpSender(kUserAgent, app.give_up.get_token()), *app.clock);
}

Result<std::unique_ptr<MetricExporter>> MakeRemoteWrite(const App& app, const config::RemoteWriteSettings& s) {
  exporters::RemoteWriteOptions options;
  if (auto reached = SetReach(s, s.url, options); !reached) return reached.error();
  const auto token = config::ReadSecret(s.bearer_token, s.bearer_token_file);
  if (!token) return token.error();
  options.bearer_token = *token;
  options.tenant = s.tenant;
  options.headers = config::PairsOf(s.headers, ": ");
  options.labels = config::PairsOf(s.external_labels, "=");
  options.labels.insert(options.labels.end(), {{"job", s.job}, {"instance", s.instance}, {"pool", s.pool}});
  options.interval = s.interval;
  options.batch_series = static_cast<std::size_t>(s.batch_series);
  return exporters::MakeRemoteWrite(options, net::MakeHttpSender(kUserAgent, app.give_up.get_token()), *app.clock);
}

}  // namespace

Result<engine::DeliveryThreads::Exporters> MakeExporters(const App& app, const Settings& settings) {
  engine::DeliveryThreads::Exporters out;
  const auto& s = settings.exporters;
  if (!s.pushgateway.url.empty()) {
    auto pushgateway = MakePushgateway(app, s.pushgateway);
    if (!pushgateway) return pushgateway.error();
    out.metrics.push_back({std::move(*pushgateway), s.pushgateway.required});
  }
  if (!s.remote_write.url.empty()) {
    auto remote_write = MakeRemoteWrite(app, s.remote_write);
    if (!remote_write) return remote_write.error();
    out.metrics.push_back({std::move(*remote_write), s.remote_write.required});
  }
  if (!s.loki.url.empty()) {
    auto loki = MakeLoki(app, s.loki);
    if (!loki) return loki.error();
    out.events.push_back(
        {std::move(*loki),
         {.required = s.loki.required, .from_beginning = s.loki.start == "beginning", .remote = true}});
  }
  if (auto added = AddOtlp(app, settings, out); !added) return added.error();
  if (s.file.enabled) {
    exporters::EventFileOptions file;
    file.path = config::EventFilePath(settings);
    file.max_bytes = s.file.max_bytes;
    file.keep = s.file.keep;
    out.events.push_back({exporters::MakeEventFile(file), {.required = false}});
  }
  if (s.console.metrics) out.metrics.push_back({exporters::MakeConsoleMetrics({}, std::cerr), false});
  if (s.console.enabled) out.events.push_back({exporters::MakeConsoleEvents({}, std::cerr), {.required = false}});
  return out;
}

}  // namespace breakwatch::wiring
