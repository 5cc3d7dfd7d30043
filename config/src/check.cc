#include "check.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>

#include "breakwatch/config/keys.h"
#include "breakwatch/core/host_port.h"
#include "text_checks.h"

namespace breakwatch::config {
namespace {

constexpr std::string_view kLockFile = "measure.lock_file";  // made where it is missing

class Checker {
 public:
  Findings findings;

  void Refuse(bool wrong, const std::string& key, const std::string& text) {
    if (wrong) findings.problems.push_back({key, text});
  }
  void Warn(bool doubtful, const std::string& key, const std::string& text) {
    if (doubtful) findings.warnings.push_back({key, text});
  }

  // The default "var", relative to /, is /var, which all programs share.
  void StateDir(const std::string& path) {
    std::error_code error;
    std::string whole = std::filesystem::absolute(path, error).lexically_normal().string();
    while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
    Refuse(whole == "/" || whole == "/var", "state_dir",
           "\"" + whole + "\" belongs to the system; use a separate directory such as /var/lib/breakwatch");
  }

  // Keys that name a file, which must be readable.
  void Readable(const Settings& settings) {
    Settings copy = settings;
    for (const Key& key : Keys()) {
      const auto* field = std::get_if<FieldOf<std::string>>(&key.field);
      if (!field || !key.name.ends_with("_file") || key.name == kLockFile) continue;
      const std::string path = (*field)(copy);
      errno = 0;
      const bool missing = !path.empty() && access(path.c_str(), R_OK) != 0;
      Refuse(missing, key.name, "\"" + path + "\" cannot be read: " + std::strerror(errno));
    }
  }

  template <class Exporter>
  void Network(const std::string& prefix, const Exporter& exporter) {
    Network(prefix, exporter, exporter.url);
  }
  template <class Exporter>
  void Network(const std::string& prefix, const Exporter& exporter, const std::string& url) {
    Refuse(!exporter.password.empty() && !exporter.password_file.empty(), prefix + "password_file",
           "password and password_file are both set");
    Refuse(exporter.username.empty() && !(exporter.password.empty() && exporter.password_file.empty()),
           prefix + "username", "is empty, but a password is set");
    Refuse(exporter.tls.cert_file.empty() != exporter.tls.key_file.empty(), prefix + "cert_file",
           "cert_file and key_file must be set together");
    Refuse(exporter.connect_timeout > exporter.timeout, prefix + "connect_timeout", "is longer than timeout");
    Warn(exporter.tls.insecure_skip_verify && url.starts_with("https:"), prefix + "insecure_skip_verify",
         "the server's identity is not checked");
  }

  // Of exporters that also take a bearer token.
  template <class Exporter>
  void Bearer(const std::string& prefix, const Exporter& exporter) {
    const bool has_token = !exporter.bearer_token.empty() || !exporter.bearer_token_file.empty();
    Refuse(!exporter.bearer_token.empty() && !exporter.bearer_token_file.empty(), prefix + "bearer_token_file",
           "bearer_token and bearer_token_file are both set");
    Refuse(has_token && !exporter.username.empty(), prefix + "username", "is set besides a bearer token");
  }

  void RemoteWrite(const RemoteWriteSettings& remote_write) {
    const std::string prefix = "exporters.remote_write.";
    Network(prefix, remote_write);
    Bearer(prefix, remote_write);
    std::set<std::string> names;
    for (const std::string& label : remote_write.external_labels) {
      const std::string name = label.substr(0, label.find('='));
      Refuse(!names.insert(name).second, prefix + "external_labels", "has " + name + " twice");
    }
    Warn(!remote_write.url.empty() && remote_write.interval >= std::chrono::minutes(5), prefix + "interval",
         "series disappear between two exports: Prometheus forgets them after five minutes");
  }

  void Otlp(const OtlpSettings& otlp) {
    const std::string prefix = "exporters.otlp.";
    const std::string metrics = OtlpMetricsUrl(otlp);
    Network(prefix, otlp, metrics.starts_with("https:") ? metrics : OtlpLogsUrl(otlp));
    const std::string text = " and its file are both set";
    Refuse(!otlp.headers.empty() && !otlp.headers_file.empty(), prefix + "headers_file", "headers" + text);
    Refuse(!otlp.metrics_headers.empty() && !otlp.metrics_headers_file.empty(), prefix + "metrics_headers_file",
           "metrics_headers" + text);
    Refuse(!otlp.logs_headers.empty() && !otlp.logs_headers_file.empty(), prefix + "logs_headers_file",
           "logs_headers" + text);
    const auto pair = [&](const std::string& of, const OtlpSignalSettings& signal) {
      Refuse(signal.cert_file.empty() != signal.key_file.empty(), prefix + of + "_cert_file",
             of + "_cert_file and " + of + "_key_file must be set together");
    };
    pair("metrics", otlp.of_metrics), pair("logs", otlp.of_logs);
  }

  void Registry(const RegistrySettings& registry) {
    const std::string prefix = "artifact.registry.";
    const bool has_token = !registry.token.empty() || !registry.token_file.empty();
    Refuse(!registry.password.empty() && !registry.password_file.empty(), prefix + "password_file",
           "password and password_file are both set");
    Refuse(!registry.token.empty() && !registry.token_file.empty(), prefix + "token_file",
           "token and token_file are both set");
    Refuse(has_token && !registry.username.empty(), prefix + "username", "is set besides a token");
    Refuse(registry.tls.cert_file.empty() != registry.tls.key_file.empty(), prefix + "cert_file",
           "cert_file and key_file must be set together");
  }

  void Web(const WebSettings& web) {
    const auto address = ParseHostPort(web.listen_address);
    const bool loopback = address && IsLoopback(address->host);
    const bool has_token = !web.token.empty() || !web.token_file.empty();
    Refuse(!web.token.empty() && !web.token_file.empty(), "web.token_file", "token and token_file are both set");
    Refuse(web.enable_lifecycle && !loopback && !has_token, "web.enable_lifecycle",
           "needs web.token_file if web.listen_address is not on loopback");
  }
};

}  // namespace

Findings CheckTogether(const Settings& settings, bool store_url_from_environment) {
  Checker check;
  check.Readable(settings);
  check.StateDir(settings.state_dir);
  check.Network("exporters.pushgateway.", settings.exporters.pushgateway);
  check.Network("exporters.loki.", settings.exporters.loki);
  check.RemoteWrite(settings.exporters.remote_write);
  check.Otlp(settings.exporters.otlp);
  check.Registry(settings.artifact.registry);
  check.Web(settings.web);
  const HubSettings& hub = settings.hub;
  check.Refuse((hub.source == "file" || hub.source == "directory") && hub.path.empty(), "hub.source",
               "source " + hub.source + " needs hub.path");
  check.Refuse(hub.list.min_params && hub.list.max_params && *hub.list.min_params > *hub.list.max_params,
               "hub.min_params", "is larger than hub.max_params");
  const auto& modes = settings.capture.modes;
  check.Refuse(modes.empty(), "capture.modes", "is empty");
  check.Refuse(std::set<std::string>(modes.begin(), modes.end()).size() != modes.size(), "capture.modes",
               "contains a mode twice");
  if (auto measure = CheckMeasure(MeasureOptionsOf(settings.measure)); !measure) {
    const std::string& message = measure.error().message;  // "backends: expected ..."
    const std::size_t colon = message.find(':');
    check.Refuse(true, "measure." + message.substr(0, colon), message.substr(colon + 2));
  }
  check.Refuse(settings.delivery.first_backoff > settings.delivery.max_backoff, "delivery.first_backoff",
               "is longer than delivery.max_backoff");
  check.Refuse(PasswordIn(settings.store.url) && !store_url_from_environment, "store.url",
               "must not contain a password; use PGPASSWORD, a passfile or BREAKWATCH_STORE_URL");
  return std::move(check.findings);
}

}  // namespace breakwatch::config
