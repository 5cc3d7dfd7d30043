// `breakwatch doctor`: checks what a sweep needs, and prints a fix for each problem.
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "breakwatch/config/headers.h"
#include "breakwatch/config/load.h"
#include "breakwatch/config/pairs.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "commands.h"
#include "delivery_options.h"

namespace breakwatch::commands {
namespace {

constexpr std::int64_t kLowDiskBytes = 2LL << 30;
constexpr std::string_view kStateNames[] = {"ok", "warning", "failed"};

bool OnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    if (access((rest.substr(0, colon) + "/" + program).c_str(), X_OK) == 0) return true;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return false;
}

Check Packages() {
  std::string missing;
  for (const char* program : {"bwrap", "prometheus-pushgateway"}) {
    if (!OnPath(program)) missing += (missing.empty() ? "" : ", ") + std::string(program);
  }
  if (missing.empty()) return {"packages", Check::State::kOk, "bwrap and prometheus-pushgateway are installed", ""};
  return {"packages", Check::State::kWarning, missing + " not found",
          "apt-get install bubblewrap prometheus-pushgateway"};
}

Check Disk(const Settings& settings) {
  std::error_code ignored;
  std::filesystem::path dir = std::filesystem::absolute(settings.state_dir, ignored);
  while (!std::filesystem::exists(dir, ignored) && dir.has_parent_path() && dir != dir.parent_path())
    dir = dir.parent_path();
  struct statvfs info {};
  if (statvfs(dir.c_str(), &info) != 0 || access(dir.c_str(), W_OK) != 0) {
    return {"disk", Check::State::kFailed, dir.string() + " is not writable",
            "set state_dir to a directory that you can write"};
  }
  const auto free = static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
  const std::string found = std::to_string(free >> 20) + " MiB free below " + dir.string();
  if (free < kLowDiskBytes) return {"disk", Check::State::kWarning, found, "free some space: at least 2 GiB"};
  return {"disk", Check::State::kOk, found, ""};
}

Check StoreCheck(App& app) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  const std::string url = config::StoreUrl(app.settings());
  if (!store && store.error().code == ErrorCode::kNotFound)
    return {"store", Check::State::kOk, "none yet; the first sweep creates " + url, ""};
  const auto checked = store ? (*store)->Check() : Result<void>(store.error());
  if (!checked)
    return {"store", Check::State::kFailed, checked.error().message, "run `breakwatch store check` for details"};
  return {"store", Check::State::kOk, url, ""};
}

// Checks that a server accepts a request, GET unless it has another method.
Check Server(App& app, const std::string& name, const std::string& url, const std::string& path, const std::string& fix,
             net::HttpRequest request = {}) {
  request.url = url + path;
  request.connect_timeout = std::chrono::milliseconds(3'000);
  request.timeout = std::chrono::milliseconds(10'000);
  const auto response = app.make_sender()->Send(request);
  if (!response) return {name, Check::State::kFailed, response.error().message, fix};
  if (response->status / 100 != 2)
    return {name, Check::State::kFailed, url + " responds with HTTP " + std::to_string(response->status), fix};
  return {name, Check::State::kOk, url + " responds", ""};
}

// Reports waiting and refused events. Empty if there is no store yet.
std::vector<Check> Delivery(App& app) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  const auto states = store ? (*store)->DeliveryStates() : Result<std::vector<store::DeliveryState>>(store.error());
  std::vector<Check> checks;
  if (!states) return checks;  // the store's own check reports it
  const std::vector<std::string> configured = EventExporters(app.settings());
  for (const store::DeliveryState& state : *states) {
    // Events of an exporter that is no longer configured are not a problem.
    if (std::find(configured.begin(), configured.end(), state.exporter) == configured.end()) continue;
    if (!state.paused.empty()) {
      checks.push_back({"events", Check::State::kFailed, state.exporter + " is paused: " + state.paused,
                        "fix the problem in the response; no event is lost"});
    }
    if (state.dead_letters > 0) {
      checks.push_back({"events", Check::State::kWarning,
                        state.exporter + " refused " + Counted(state.dead_letters, "event"),
                        "run `breakwatch dead-letters list`, then retry or drop them"});
    }
  }
  return checks;
}

Check Hub(App& app) {
  const std::string& source = app.settings().hub.source;
  if (source != "live" && source != "file")
    return {"hub", Check::State::kOk, "not needed: hub.source is " + source, ""};
  const std::string url = app.hub_endpoint(app.settings());
  if (url.empty()) return {"hub", Check::State::kOk, "not needed: offline", ""};
  return Server(app, "hub", url, "/api/models?limit=1", "check network and proxy, or use --hub.source snapshot");
}

// Uses the exporter's own credentials and certificates.
template <class ExporterSettings>
Check Exporter(App& app, const std::string& name, const ExporterSettings& s, const std::string& path,
               net::HttpRequest request = {}) {
  const auto password = config::ReadSecret(s.password, s.password_file);
  if (!password) return {name, Check::State::kFailed, password.error().message, "check exporters." + name};
  request.user = s.username;
  request.password = *password;
  request.tls = {s.tls.ca_file, s.tls.cert_file, s.tls.key_file, s.tls.insecure_skip_verify};
  return Server(app, name, s.url, path, "start it, or check exporters." + name + ".url", std::move(request));
}

// Writes a request without series: it is complete in the protocol, and nothing is stored.
Check RemoteWrite(App& app) {
  const config::RemoteWriteSettings& s = app.settings().exporters.remote_write;
  const auto token = config::ReadSecret(s.bearer_token, s.bearer_token_file);
  if (!token) return {"remote_write", Check::State::kFailed, token.error().message, "check exporters.remote_write"};
  net::HttpRequest request;
  request.method = "POST";
  request.headers = config::PairsOf(s.headers, ": ");
  request.headers.insert(request.headers.end(), {{"Content-Encoding", "snappy"},
                                                 {"Content-Type", "application/x-protobuf"},
                                                 {"X-Prometheus-Remote-Write-Version", "0.1.0"}});
  if (!s.tenant.empty()) request.headers.emplace_back("X-Scope-OrgID", s.tenant);
  request.bearer_token = *token;
  request.body = std::string(1, '\0');  // Snappy's form of nothing
  return Exporter(app, "remote_write", s, "", std::move(request));
}

// Sends a request without metrics or logs: it is complete in the protocol, and nothing is stored.
Check Otlp(App& app, const char* name, const std::string& url, const std::string& own, const std::string& own_file) {
  const config::OtlpSettings& s = app.settings().exporters.otlp;
  const auto password = config::ReadSecret(s.password, s.password_file);
  if (!password) return {name, Check::State::kFailed, password.error().message, "check exporters.otlp"};
  const bool has_own = !own.empty() || !own_file.empty();
  auto headers = has_own ? config::ReadHeaders(own, own_file) : config::ReadHeaders(s.headers, s.headers_file);
  if (!headers) return {name, Check::State::kFailed, headers.error().message, "check exporters.otlp"};
  const bool is_json = s.protocol == "http/json";
  net::HttpRequest request;
  request.method = "POST";
  request.body = is_json ? "{}" : "";
  request.headers = *std::move(headers);
  request.headers.emplace_back("Content-Type", is_json ? "application/json" : "application/x-protobuf");
  request.user = s.username;
  request.password = *password;
  request.tls = {s.tls.ca_file, s.tls.cert_file, s.tls.key_file, s.tls.insecure_skip_verify};
  return Server(app, name, url, "", "start it, or check exporters.otlp.endpoint", std::move(request));
}

void CheckOtlp(App& app, std::vector<Check>& checks) {
  const config::OtlpSettings& s = app.settings().exporters.otlp;
  if (const std::string url = config::OtlpMetricsUrl(s); !url.empty())
    checks.push_back(Otlp(app, "otlp metrics", url, s.metrics_headers, s.metrics_headers_file));
  if (const std::string url = config::OtlpLogsUrl(s); !url.empty())
    checks.push_back(Otlp(app, "otlp logs", url, s.logs_headers, s.logs_headers_file));
}

std::vector<Check> AllChecks(App& app) {
  const Settings& settings = app.settings();
  std::vector<Check> checks{Packages()};
  for (Check& check : app.check_toolchain(settings)) checks.push_back(std::move(check));
  checks.push_back(Hub(app));
  const auto& exporters = settings.exporters;
  if (!exporters.pushgateway.url.empty()) {
    checks.push_back(Exporter(app, "pushgateway", exporters.pushgateway, "/-/ready"));
  } else if (exporters.remote_write.url.empty() && config::OtlpMetricsUrl(exporters.otlp).empty()) {
    checks.push_back({"pushgateway", Check::State::kWarning, "none configured",
                      "set exporters.pushgateway.url, or use --local-gateway"});
  }
  if (!exporters.remote_write.url.empty()) checks.push_back(RemoteWrite(app));
  if (!exporters.loki.url.empty()) {
    checks.push_back(Exporter(app, "loki", exporters.loki, "/ready"));
  }
  CheckOtlp(app, checks);
  checks.push_back(StoreCheck(app));
  for (Check& check : Delivery(app)) checks.push_back(std::move(check));
  checks.push_back(Disk(settings));
  return checks;
}

std::string Text(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    std::string name = check.name;
    name.resize(std::max<std::size_t>(name.size(), 13), ' ');
    std::string state(kStateNames[static_cast<std::size_t>(check.state)]);
    state.resize(9, ' ');
    text += state + name + check.found + "\n";
    if (!check.fix.empty()) text += std::string(22, ' ') + "-> " + check.fix + "\n";
  }
  return text;
}

std::string Json(const std::vector<Check>& checks) {
  auto list = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    list.push_back({{"check", check.name},
                    {"state", kStateNames[static_cast<std::size_t>(check.state)]},
                    {"found", check.found},
                    {"fix", check.fix}});
  }
  return JsonDocument(nlohmann::ordered_json{{"checks", list}}, 1);
}

}  // namespace

int RunDoctor(App& app) {
  const std::vector<Check> checks = AllChecks(app);
  Print(app, app.json ? Json(checks) : Text(checks));
  for (const Check& check : checks) {
    if (check.state == Check::State::kFailed) return kExitFailure;
  }
  return kExitOk;
}

}  // namespace breakwatch::commands
