#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "breakwatch/capture/launcher.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/exporters/registry.h"
#include "breakwatch/wiring/wiring.h"
#include "data_dir.h"

namespace breakwatch::wiring {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMaxReportBytes = 4u << 20;

std::string RunnerOf(const Settings& settings) {
  if (!settings.artifact.runner.empty()) return ConfiguredFile(settings.artifact.runner);
  std::error_code ignored;
  return (fs::read_symlink("/proc/self/exe", ignored).parent_path() / "breakwatch-runner").string();
}

// Runs `breakwatch-runner check`. Its exit code repeats the status in its JSON.
class RunnerChecker final : public PackageChecker {
 public:
  RunnerChecker(std::string runner, const config::ArtifactSettings& settings)
      : runner_(std::move(runner)), settings_(settings) {}

  Result<PackageVerdict> Check(const std::string& folder) override {
    const auto output = capture::RunProgram({"/bin/sh", "-c", R"("$0" check "$1" --json || true)", runner_, folder},
                                            settings_.check_timeout, kMaxReportBytes);
    if (!output) return PackageVerdict{"failed_check", output.error().message, "{}"};
    const json report = json::parse(*output, nullptr, /*allow_exceptions=*/false);
    const auto text = [&](const char* key) {
      return report.contains(key) && report[key].is_string() ? ShortLine(report[key].get<std::string>(), 1000) : "";
    };
    if (!report.is_object()) return PackageVerdict{"failed_check", "breakwatch-runner ended without a report", "{}"};
    return PackageVerdict{text("status"), text("detail"), JsonText(report)};
  }

 private:
  const std::string runner_;
  const config::ArtifactSettings settings_;
};

}  // namespace

Result<std::unique_ptr<PackageChecker>> MakeChecker(const App&, const Settings& settings) {
  const std::string runner = RunnerOf(settings);
  if (access(runner.c_str(), X_OK) != 0)
    return Error{ErrorCode::kUnavailable,
                 "no " + runner + ": run `make venv`, then `make build`, or set artifact.runner"};
  return std::unique_ptr<PackageChecker>(std::make_unique<RunnerChecker>(runner, settings.artifact));
}

Result<std::unique_ptr<ArtifactRegistry>> MakeRegistry(const App& app, const Settings& settings,
                                                       const std::string& name) {
  const config::RegistrySettings& s = settings.artifact.registry;
  const auto password = config::ReadSecret(s.password, s.password_file);
  if (!password) return password.error();
  const auto token = config::ReadSecret(s.token, s.token_file);
  if (!token) return token.error();
  exporters::RegistryOptions options;
  options.user = s.username, options.password = *password, options.token = *token;
  options.tls = {s.tls.ca_file, s.tls.cert_file, s.tls.key_file, s.tls.insecure_skip_verify};
  options.timeout = s.timeout, options.connect_timeout = s.connect_timeout;
  options.make_sender = app.make_sender;
  return exporters::MakeRegistry(name, std::move(options), *app.clock);
}

}  // namespace breakwatch::wiring
