// Makes the objects behind the app's factories. Only this folder and main.cc name concrete classes.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "breakwatch/commands/app.h"

namespace breakwatch::wiring {

using commands::App;
using config::Settings;

inline const std::string kUserAgent = std::string("breakwatch/") + BREAKWATCH_VERSION;

// models.cc: the sources of models, and a Hub on disk.
Result<std::unique_ptr<ModelLister>> MakeLister(const App& app, const Settings& settings);
Result<std::unique_ptr<WeightsFetcher>> MakeWeights(const App& app, const Settings& settings);
std::string HubEndpoint(const Settings& settings);  // empty: offline
std::string HubCacheDir(const Settings& settings);  // of the Hub's clients: models that they downloaded
int RecordHub(App& app, const commands::HubRecordOptions& options);
int ServeHub(App& app, const commands::HubServeOptions& options);

// capture.cc: the toolchains' workers.
Result<std::unique_ptr<CaptureRunner>> MakeRunner(const App& app, const Settings& settings);
// The same with one zygote, which may also use the folders.
Result<std::unique_ptr<CaptureRunner>> MakeBuilder(const App& app, const Settings& settings,
                                                   const engine::BuildFolders& folders);
Result<Toolchain> DescribeToolchain(const App& app, const Settings& settings);
Result<void> ComposeToolchain(const std::string& torch_python, const std::string& rest_python,
                              const std::string& target);
Result<engine::IgnoredKeys> IgnoredConfigKeys();
std::vector<commands::Check> CheckToolchain(const App& app, const Settings& settings);
Result<std::string> Discover(const App& app, const Settings& settings, const commands::DiscoverRequest& request);
Result<std::string> KeepCapture(const App& app, const Settings& settings, const commands::KeepRequest& request);
// Absolute folders of PYTHONPATH: the worker's own PYTHONPATH replaces it, and factories are imported from them.
std::vector<std::string> PythonPath();

// setup.cc
Result<commands::SetupPlan> PlanSetup(const commands::SetupRequest& request);
Result<commands::MadeToolchain> SetUp(const commands::SetupRequest& request, const commands::SetupFollow& follow);

// artifacts.cc
Result<std::unique_ptr<PackageChecker>> MakeChecker(const App& app, const Settings& settings);
Result<std::unique_ptr<ArtifactRegistry>> MakeRegistry(const App& app, const Settings& settings,
                                                       const std::string& name);

// exporters.cc
Result<engine::DeliveryThreads::Exporters> MakeExporters(const App& app, const Settings& settings);

}  // namespace breakwatch::wiring
