#include <filesystem>
#include <utility>

#include "breakwatch/artifact/runner_process.h"
#include "breakwatch/capture/confine.h"
#include "breakwatch/exporters/registry.h"
#include "breakwatch/wiring/toolchains.h"
#include "breakwatch/wiring/wiring.h"
#include "data_dir.h"

namespace breakwatch::wiring {
namespace {

namespace fs = std::filesystem;

std::string RunnerOf(const Settings& settings) {
  if (!settings.artifact.runner.empty()) return ConfiguredFile(settings.artifact.runner);
  const std::string program = RunnerProgram();
  return program.empty() ? EnvironmentOf(DefaultPython()) + "/bin/breakwatch-runner" : program;
}

// Runs `breakwatch-runner check` in its sandbox.
class RunnerChecker final : public PackageChecker {
 public:
  explicit RunnerChecker(artifact::RunnerOptions options) : options_(std::move(options)) {}

  Result<PackageVerdict> Check(const std::string& folder) override {
    auto report = artifact::RunRunner(options_, "check", folder);
    if (!report) return report.error();
    return PackageVerdict{std::move(report->status), std::move(report->detail), std::move(report->json)};
  }

 private:
  const artifact::RunnerOptions options_;
};

}  // namespace

Result<std::unique_ptr<PackageChecker>> MakeChecker(const App&, const Settings& settings) {
  std::error_code ignored;
  artifact::RunnerOptions options;
  options.program = RunnerOf(settings);
  options.confine = {fs::read_symlink("/proc/self/exe", ignored).string(), std::string(capture::kConfineCommand)};
  options.sandbox = settings.capture.sandbox != "off";
  options.timeout = settings.artifact.check_timeout;
  options.memory_bytes = settings.artifact.check_rss_bytes;
  return std::unique_ptr<PackageChecker>(std::make_unique<RunnerChecker>(std::move(options)));
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
