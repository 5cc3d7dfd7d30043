#include "otel_environment.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "breakwatch/core/text.h"
#include "parse.h"
#include "text_checks.h"

namespace breakwatch::config {
namespace {

// The value for the setting; nullopt: the variable says nothing about it.
using Convert = std::optional<std::string> (*)(const std::string& text);

std::optional<std::string> AsItIs(const std::string& text) { return text; }
std::optional<std::string> Milliseconds(const std::string& text) { return text + "ms"; }
std::optional<std::string> OffIfTrue(const std::string& text) {
  return Lower(text) == "true" ? std::optional<std::string>("false") : std::nullopt;
}
std::optional<std::string> OffWithoutOtlp(const std::string& text) {
  return ("," + text + ",").find(",otlp,") == std::string::npos ? std::optional<std::string>("false") : std::nullopt;
}
std::optional<std::string> LowerCase(const std::string& text) { return Lower(text); }
std::optional<std::string> IsGzip(const std::string& text) {
  const std::string lower = Lower(text);
  return lower == "gzip" ? "true" : lower == "none" ? "false" : text;
}

constexpr std::string_view kMilliseconds = "milliseconds such as 10000, from 100 to a day", kGzip = "gzip or none";

struct Variable {
  std::string_view name, key;
  Convert convert = AsItIs;
  std::string_view expected{};  // empty: as the setting
};
constexpr Variable kVariables[] = {
    {"OTEL_SDK_DISABLED", "exporters.otlp.enabled", OffIfTrue},
    {"OTEL_METRICS_EXPORTER", "exporters.otlp.metrics", OffWithoutOtlp},
    {"OTEL_LOGS_EXPORTER", "exporters.otlp.logs", OffWithoutOtlp},
    {"OTEL_EXPORTER_OTLP_ENDPOINT", "exporters.otlp.endpoint"},
    {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "exporters.otlp.metrics_endpoint"},
    {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "exporters.otlp.logs_endpoint"},
    {"OTEL_EXPORTER_OTLP_PROTOCOL", "exporters.otlp.protocol", LowerCase},
    {"OTEL_EXPORTER_OTLP_HEADERS", "exporters.otlp.headers"},
    {"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "exporters.otlp.metrics_headers"},
    {"OTEL_EXPORTER_OTLP_LOGS_HEADERS", "exporters.otlp.logs_headers"},
    {"OTEL_EXPORTER_OTLP_COMPRESSION", "exporters.otlp.gzip", IsGzip, kGzip},
    {"OTEL_EXPORTER_OTLP_TIMEOUT", "exporters.otlp.timeout", Milliseconds, kMilliseconds},
    {"OTEL_EXPORTER_OTLP_CERTIFICATE", "exporters.otlp.ca_file"},
    {"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "exporters.otlp.cert_file"},
    {"OTEL_EXPORTER_OTLP_CLIENT_KEY", "exporters.otlp.key_file"},
    {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "exporters.otlp.metrics_protocol", LowerCase},
    {"OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "exporters.otlp.metrics_compression", LowerCase},
    {"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "exporters.otlp.metrics_timeout", Milliseconds, kMilliseconds},
    {"OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE", "exporters.otlp.metrics_ca_file"},
    {"OTEL_EXPORTER_OTLP_METRICS_CLIENT_CERTIFICATE", "exporters.otlp.metrics_cert_file"},
    {"OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY", "exporters.otlp.metrics_key_file"},
    {"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "exporters.otlp.logs_protocol", LowerCase},
    {"OTEL_EXPORTER_OTLP_LOGS_COMPRESSION", "exporters.otlp.logs_compression", LowerCase},
    {"OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "exporters.otlp.logs_timeout", Milliseconds, kMilliseconds},
    {"OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE", "exporters.otlp.logs_ca_file"},
    {"OTEL_EXPORTER_OTLP_LOGS_CLIENT_CERTIFICATE", "exporters.otlp.logs_cert_file"},
    {"OTEL_EXPORTER_OTLP_LOGS_CLIENT_KEY", "exporters.otlp.logs_key_file"},
    {"OTEL_METRIC_EXPORT_INTERVAL", "exporters.otlp.interval", Milliseconds,
     "milliseconds such as 60000, from 1000 to a day"},
    {"OTEL_SERVICE_NAME", "exporters.otlp.service_name"},
};

constexpr std::string_view kPrefix = "OTEL_EXPORTER_OTLP_", kProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL";
constexpr std::string_view kAttributes = "OTEL_RESOURCE_ATTRIBUTES";

struct Signal {
  std::string_view prefix, protocol, name, key;
};
constexpr Signal kSignals[] = {
    {"OTEL_EXPORTER_OTLP_METRICS_", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "metrics", "exporters.otlp.metrics"},
    {"OTEL_EXPORTER_OTLP_LOGS_", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "logs", "exporters.otlp.logs"}};

struct OtelSetting {
  std::string variable, key;
  Raw raw;
  std::string expected{}, text{};  // of a refusal, if not as the setting
  bool with_endpoint = false;      // only if the endpoint is a variable's too
};
struct OtelSettings {
  std::vector<OtelSetting> settings;
  std::vector<std::string> warnings;
};

class Reader {
 public:
  explicit Reader(const std::map<std::string, std::string>& environment) : environment_(environment) {}

  // `own_protocol`: one is set for this program, so none of a variable counts.
  OtelSettings Run(bool own_protocol) {
    if (!own_protocol) FindOtherProtocols();
    for (const Variable& variable : kVariables) {
      const std::string text = Value(variable.name);
      if (text.empty() || IsForOthers(variable.name)) continue;
      if (const auto value = variable.convert(text)) {
        OtelSetting& added = Add(variable.name, variable.key, *value);
        added.expected = variable.expected, added.text = text;
      }
    }
    ResourceAttributes();
    return std::move(out_);
  }

 private:
  std::string Value(std::string_view name) const {
    const auto found = environment_.find(std::string(name));
    return found == environment_.end() ? std::string() : std::string(Trim(found->second));
  }

  OtelSetting& Add(std::string_view variable, std::string_view key, const std::string& value) {
    return out_.settings.emplace_back(
        OtelSetting{std::string(variable), std::string(key), {Raw::Kind::kPlain, value, {}}});
  }

  static bool IsSupported(const std::string& protocol) { return Lower(protocol) != "grpc"; }

  // An endpoint for gRPC does not answer HTTP/1.1, so these variables are meant for other programs.
  bool IsForOthers(std::string_view name) const {
    if (others_.size() == std::size(kSignals)) return name.starts_with(kPrefix);
    if (name == kProtocol) return !IsSupported(Value(kProtocol));
    return std::ranges::any_of(others_, [&](const Signal* signal) { return name.starts_with(signal->prefix); });
  }

  // Finds the signals whose protocol is not supported.
  void FindOtherProtocols() {
    const bool has_endpoint = std::ranges::any_of(kVariables, [&](const Variable& variable) {
      return variable.name.ends_with("_ENDPOINT") && !Value(variable.name).empty();
    });
    std::map<std::string_view, std::string> unsent;  // signals, by the variable with the protocol
    for (const Signal& signal : kSignals) {
      const std::string_view variable = Value(signal.protocol).empty() ? kProtocol : signal.protocol;
      if (IsSupported(Value(variable))) continue;
      others_.push_back(&signal);
      std::string& names = unsent[variable];
      names.append(names.empty() ? "" : " and ").append(signal.name);
      if (has_endpoint) Add(variable, signal.key, "false").with_endpoint = true;
    }
    if (!has_endpoint) return;
    for (const auto& [variable, names] : unsent) {
      out_.warnings.push_back("environment " + std::string(variable) + ": \"" + ShortLine(Value(variable), 80) +
                              "\" is not supported, so no " + names +
                              " are sent to the endpoint of an OTEL_* variable; expected http/protobuf or "
                              "http/json, or set exporters.otlp.endpoint");
    }
  }

  // "name=value,name=value", percent-encoded.
  void ResourceAttributes() {
    const std::string text = Value(kAttributes);
    if (text.empty()) return;
    const auto pairs = NameValuePairs(text);
    if (!pairs) {
      out_.warnings.push_back("environment " + std::string(kAttributes) +
                              ": expected NAME=VALUE,NAME=VALUE with percent-encoding; ignored");
      return;
    }
    Raw raw{Raw::Kind::kList, {}, {}};
    for (const auto& [name, value] : *pairs) raw.items.push_back(name + "=" + value);
    Add(kAttributes, "exporters.otlp.resource", "").raw = std::move(raw);
  }

  const std::map<std::string, std::string>& environment_;
  std::vector<const Signal*> others_;  // whose variables are not for this program
  OtelSettings out_;
};

// Where one of these is set for this program, no variable sets another one: credentials of another endpoint, or half of
// a pair, would be sent.
const std::set<std::string> kTogether[] = {
    {"exporters.otlp.endpoint", "exporters.otlp.metrics_endpoint", "exporters.otlp.logs_endpoint"},
    {"exporters.otlp.username", "exporters.otlp.headers", "exporters.otlp.headers_file",
     "exporters.otlp.metrics_headers", "exporters.otlp.metrics_headers_file", "exporters.otlp.logs_headers",
     "exporters.otlp.logs_headers_file"},
    {"exporters.otlp.cert_file", "exporters.otlp.key_file", "exporters.otlp.metrics_cert_file",
     "exporters.otlp.metrics_key_file", "exporters.otlp.logs_cert_file", "exporters.otlp.logs_key_file"},
    {"exporters.otlp.ca_file", "exporters.otlp.metrics_ca_file", "exporters.otlp.logs_ca_file"},
    {"exporters.otlp.protocol", "exporters.otlp.metrics_protocol", "exporters.otlp.logs_protocol"},
    {"exporters.otlp.gzip", "exporters.otlp.metrics_compression", "exporters.otlp.logs_compression"},
    {"exporters.otlp.timeout", "exporters.otlp.metrics_timeout", "exporters.otlp.logs_timeout"}};

class Applier {
 public:
  explicit Applier(Loaded& loaded) : loaded_(loaded), own_(loaded.origins) {}

  bool HasOwnProtocol() const { return SetForThisProgram("exporters.otlp.protocol"); }

  void Run(const OtelSettings& found) {
    loaded_.warnings.insert(loaded_.warnings.end(), found.warnings.begin(), found.warnings.end());
    for (const OtelSetting& one : found.settings) {
      const bool is_moot = one.with_endpoint && SetForThisProgram("exporters.otlp.endpoint");
      if (!is_moot && !SetForThisProgram(one.key)) Apply(one);
    }
    for (const std::string of : {"", "metrics_", "logs_"}) {
      DropHalfPair("exporters.otlp." + of + "cert_file", "exporters.otlp." + of + "key_file");
      DropHalfPair("exporters.otlp." + of + "key_file", "exporters.otlp." + of + "cert_file");
    }
    FitRequired();
  }

 private:
  bool SetForThisProgram(const std::string& key) const {
    const auto is_set = [&](const std::string& name) { return own_.at(name) != Origin(); };
    return is_set(key) || std::ranges::any_of(kTogether, [&](const std::set<std::string>& group) {
             return group.contains(key) && std::ranges::any_of(group, is_set);
           });
  }

  void Apply(const OtelSetting& one) {
    const Origin origin{Origin::Kind::kEnvironment, one.variable};
    auto wrong = SetField(*FindKey(one.key), one.raw, loaded_.settings);
    if (wrong && !one.expected.empty())
      wrong = "expected " + one.expected + ", got \"" + ShortLine(one.text, 80) + "\"";
    if (!wrong && IsBelowConnectTimeout(one.key)) {
      wrong = "is shorter than exporters.otlp.connect_timeout";
      Reset(one.key);
    }
    if (!wrong && one.key.ends_with("_file") && access(one.raw.text.c_str(), R_OK) != 0) {
      wrong = "\"" + ShortLine(one.raw.text, 200) + "\" cannot be read";
      Reset(one.key);
    }
    if (wrong) {
      loaded_.warnings.push_back(origin.Text() + ": " + *wrong + "; ignored");
    } else {
      loaded_.origins[one.key] = origin;
    }
  }

  bool IsBelowConnectTimeout(const std::string& key) const {
    const OtlpSettings& otlp = loaded_.settings.exporters.otlp;
    const bool is_own = own_.at("exporters.otlp.connect_timeout") != Origin();
    return key == "exporters.otlp.timeout" && is_own && otlp.timeout < otlp.connect_timeout;
  }

  void Reset(const std::string& key) {
    Settings defaults;
    std::visit([&](auto field) { field(loaded_.settings) = field(defaults); }, FindKey(key)->field);
    loaded_.origins[key] = Origin();
  }

  void DropHalfPair(const std::string& key, const std::string& other) {
    const Origin origin = loaded_.origins[key];
    if (origin == own_.at(key) || loaded_.origins[other] != Origin()) return;
    loaded_.warnings.push_back(origin.Text() + ": a client certificate and its key are needed together; ignored");
    Reset(key);
  }

  void FitRequired() {
    Origin& required = loaded_.origins["exporters.otlp.required"];
    const bool from_variable =
        std::ranges::any_of(kTogether[0], [&](const std::string& key) { return loaded_.origins[key] != own_.at(key); });
    if (!from_variable || required != Origin()) return;
    loaded_.settings.exporters.otlp.required = false;
    required.place = "as the endpoint is from an OTEL_* variable";
  }

  Loaded& loaded_;
  const std::map<std::string, Origin> own_;  // before
};

}  // namespace

void ApplyOtelEnvironment(const std::map<std::string, std::string>& environment, Loaded& loaded) {
  Applier applier(loaded);
  applier.Run(Reader(environment).Run(applier.HasOwnProtocol()));
}

}  // namespace breakwatch::config
