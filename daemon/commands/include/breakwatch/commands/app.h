// App: the parts of every command. main.cc fills it; the factories are the only way to concrete classes.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "breakwatch/commands/setup.h"
#include "breakwatch/config/load.h"
#include "breakwatch/config/settings.h"
#include "breakwatch/core/artifact_registry.h"
#include "breakwatch/core/capture_runner.h"
#include "breakwatch/core/clock.h"
#include "breakwatch/core/event.h"
#include "breakwatch/core/model_lister.h"
#include "breakwatch/core/package_checker.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/weights_fetcher.h"
#include "breakwatch/engine/artifact_stages.h"
#include "breakwatch/engine/delivery.h"
#include "breakwatch/engine/make_plan.h"
#include "breakwatch/net/http.h"
#include "breakwatch/store/store.h"

namespace breakwatch::commands {

// One finding of `doctor`.
struct Check {
  enum class State { kOk, kWarning, kFailed };
  std::string name;
  State state = State::kOk;
  std::string found;  // one line
  std::string fix;    // what to do; empty when ok
};

using config::Settings;

struct HubRecordOptions {
  std::string dir, note;
  std::vector<std::string> models;  // instead of the listing
};

struct HubServeOptions {
  std::string dir, host = "127.0.0.1";
  int port = 8080;            // 0: any free one
  bool link_to_self = false;  // Link headers: the requested host instead of the Hub's
};

struct DiscoverRequest {
  std::string script;
  std::vector<std::string> arguments;  // the script's own
  int max_depth = 0;                   // 0: modules called by no other module
  int timeout_s = 600;
};

// One capture outside any sweep, in a folder that stays.
struct KeepRequest {
  CaptureJob job;
  std::string folder;  // absolute; it exists
  bool trace = false;  // also leave a TORCH_TRACE directory in it
};

// The content of a job's trace; capture.toolchain is the job's.
struct ReadTrace {
  CaptureResult capture;
  std::string digest;  // of the trace, to recognise it
  std::uint64_t bytes = 0;
  std::int64_t files = 0, records = 0;
  std::vector<std::string> warnings;
};
using TraceProgress = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

// The state of a command's output. Thread: any for `damage`, the command's for the rest.
struct Output {
  int error = 0;           // errno of the first write to standard output that failed
  bool is_closed = false;  // the reader closed the pipe: the rest is not printed, and that is no failure
  std::mutex mutex;
  std::set<std::string> damage;  // rows of the store that were skipped
};

struct App {
  config::Sources sources;  // to load again on a reload
  config::Loaded loaded;
  std::string version;
  bool json = false;   // --json
  std::string server;  // --server: the daemon whose history is read; empty: the store of the state directory
  const Clock* clock = nullptr;
  std::FILE* out = stdout;  // results
  std::FILE* err = stderr;  // progress and messages
  std::shared_ptr<Output> output = std::make_shared<Output>();

  std::function<void(Level level, const std::string& text)> log;
  std::function<Result<std::unique_ptr<store::Store>>(const Settings&, bool read_only)> open_store;
  std::function<Result<std::unique_ptr<ModelLister>>(const Settings&)> make_lister;
  std::function<Result<std::unique_ptr<CaptureRunner>>(const Settings&)> make_runner;
  // The same with one worker, which may also use the folders.
  std::function<Result<std::unique_ptr<CaptureRunner>>(const Settings&, const engine::BuildFolders&)> make_builder;
  std::function<Result<std::unique_ptr<PackageChecker>>(const Settings&)> make_checker;
  // `name`: as `--to` of `artifact publish`, or a reference. Error: kUsage for any other text.
  std::function<Result<std::unique_ptr<ArtifactRegistry>>(const Settings&, const std::string& name)> make_registry;
  std::function<Result<std::unique_ptr<WeightsFetcher>>(const Settings&)> make_weights;  // of the Hub
  std::function<Result<Toolchain>(const Settings&)> describe_toolchain;
  // Combines two environments: torch from one, the rest from the other.
  std::function<Result<void>(const std::string& torch_python, const std::string& rest_python,
                             const std::string& target)>
      compose_toolchain;
  // The settings with another toolchain as the primary one. Error: kUsage if the name is unknown.
  std::function<Result<Settings>(const Settings&, const ToolchainRef&)> with_toolchain;
  std::function<std::vector<std::string>(const Settings&)> toolchain_names;  // every configured one, the primary first
  std::function<Result<engine::IgnoredKeys>(const Settings&)> ignored_config_keys;
  std::function<Result<engine::DeliveryThreads::Exporters>(const Settings&)> make_exporters;
  std::function<std::unique_ptr<net::HttpSender>()> make_sender;
  std::function<std::string(const Settings&)> hub_endpoint;            // empty: offline
  std::function<std::vector<Check>(const Settings&)> check_toolchain;  // worker, torch, sandbox
  std::function<Result<SetupPlan>(const SetupRequest&)> plan_setup;
  std::function<Result<MadeToolchain>(const SetupRequest&, const SetupFollow&)> set_up;

  // A worker's `discovered` line (PROTOCOL.md).
  std::function<Result<std::string>(const Settings&, const DiscoverRequest&)> discover;
  // Writes the job and the script `repeat.sh` into the folder, and runs that: the worker's line, "STATUS: DETAIL".
  std::function<Result<std::string>(const Settings&, const KeepRequest&)> keep_capture;
  std::vector<std::string> own_folders;  // of scripts that run, visible in the sandbox
  std::function<Result<ReadTrace>(const std::string& path, const TraceProgress& progress)> read_trace;
  std::function<int(struct App&, const HubRecordOptions&)> hub_record;
  std::function<int(struct App&, const HubServeOptions&)> hub_serve;

  std::stop_source give_up;  // ends running sends of exporters when the program ends

  const Settings& settings() const { return loaded.settings; }
};

// Exit codes of the contract.
inline constexpr int kExitOk = 0, kExitFailure = 1, kExitRegressions = 2, kExitIncomplete = 3, kExitUsage = 64,
                     kExitUnavailable = 69, kExitStore = 74, kExitConfig = 78, kExitInterrupted = 130;
int ExitCode(const Error& error);

// Prints the error, one line, and returns its exit code.
int Fail(const App& app, const Error& error);

// For StoreOptions::on_damage: logs it once, and makes the exit code 74. Thread: any.
void NoteDamage(const App& app, const store::Damage& damage);

// Parses the command line, loads the settings, runs the command. `app` has its factories; returns the exit code.
int Main(App& app, int argc, char** argv);

}  // namespace breakwatch::commands
