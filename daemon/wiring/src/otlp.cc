#include "otlp.h"

#include <algorithm>
#include <utility>

#include "breakwatch/config/headers.h"
#include "breakwatch/exporters/otlp.h"
#include "breakwatch/net/http.h"
#include "instance_id.h"
#include "reach.h"

namespace breakwatch::wiring {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

void Set(Attributes& attributes, const std::string& name, const std::string& value) {
  const auto known = std::ranges::find(attributes, name, &Attributes::value_type::first);
  if (known == attributes.end()) {
    attributes.emplace_back(name, value);
  } else {
    known->second = value;
  }
}

Attributes ResourceOf(const config::OtlpSettings& s, const std::string& instance) {
  Attributes resource = {
      {"service.name", "breakwatch"}, {"service.instance.id", instance}, {"service.version", BREAKWATCH_VERSION}};
  for (const std::string& one : s.resource) Set(resource, one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
  if (!s.service_name.empty()) Set(resource, "service.name", s.service_name);
  return resource;
}

// What differs between the signals.
struct Signal {
  const char* name;
  std::string url;
  const std::string &headers, &headers_file;
  const config::OtlpSignalSettings& own;
};

// What is not empty.
const std::string& Either(const std::string& own, const std::string& shared) { return own.empty() ? shared : own; }

void SetOwn(const config::OtlpSettings& s, const config::OtlpSignalSettings& own, exporters::OtlpOptions& options) {
  const std::string& protocol = Either(own.protocol, s.protocol);
  options.encoding = protocol == "http/json" ? exporters::OtlpEncoding::kJson : exporters::OtlpEncoding::kProtobuf;
  options.gzip = own.compression.empty() ? s.gzip : own.compression == "gzip";
  options.timeout = own.timeout.value_or(s.timeout);
  options.connect_timeout = std::min(options.connect_timeout, options.timeout);
  options.tls.ca_file = Either(own.ca_file, s.tls.ca_file);
  if (own.cert_file.empty()) return;
  options.tls.cert_file = own.cert_file;
  options.tls.key_file = own.key_file;
}

Result<exporters::OtlpOptions> OptionsOf(const Settings& settings, const Signal& signal) {
  const config::OtlpSettings& s = settings.exporters.otlp;
  exporters::OtlpOptions options;
  if (auto reached = SetReach(s, signal.url, options); !reached) return reached.error();
  const bool own = !signal.headers.empty() || !signal.headers_file.empty();
  auto headers =
      own ? config::ReadHeaders(signal.headers, signal.headers_file) : config::ReadHeaders(s.headers, s.headers_file);
  if (!headers) return headers.error();
  const auto instance = InstanceId(settings.state_dir);
  if (!instance) return instance.error();
  options.name = signal.name;
  options.headers = *std::move(headers);
  options.resource = ResourceOf(s, *instance);
  options.scope_version = BREAKWATCH_VERSION;
  SetOwn(s, signal.own, options);
  options.max_request_bytes = static_cast<std::size_t>(s.max_request_bytes);
  options.repeat_every = s.interval;
  return options;
}

}  // namespace

Result<void> AddOtlp(const App& app, const Settings& settings, engine::DeliveryThreads::Exporters& out) {
  const config::OtlpSettings& s = settings.exporters.otlp;
  const auto sender = [&app] { return net::MakeHttpSender(kUserAgent, app.give_up.get_token()); };
  const Signal metrics{"otlp_metrics", config::OtlpMetricsUrl(s), s.metrics_headers, s.metrics_headers_file,
                       s.of_metrics};
  if (!metrics.url.empty()) {
    auto options = OptionsOf(settings, metrics);
    if (!options) return options.error();
    out.metrics.push_back({exporters::MakeOtlpMetrics(*std::move(options), sender(), *app.clock), s.required});
  }
  const Signal logs{"otlp_logs", config::OtlpLogsUrl(s), s.logs_headers, s.logs_headers_file, s.of_logs};
  if (!logs.url.empty()) {
    auto options = OptionsOf(settings, logs);
    if (!options) return options.error();
    out.events.push_back({exporters::MakeOtlpLogs(*std::move(options), sender(), *app.clock),
                          {.required = s.required, .from_beginning = s.start == "beginning", .remote = true}});
  }
  return {};
}

}  // namespace breakwatch::wiring
