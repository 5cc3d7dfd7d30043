// The table itself: one entry a setting, in the order of the example file.
#include "key_table.h"

#include "breakwatch/core/choices.h"
#include "breakwatch/core/mode.h"
#include "text_checks.h"

// The field of a setting, by its path in Settings.
#define FIELD(path)            \
  +[](Settings & s) -> auto& { \
    return s.path;             \
  }
// A setting whose key is its path.
#define KEY(path) .name = #path, .field = FIELD(path)

namespace breakwatch::config {
namespace {

constexpr double kDay = 24 * 3'600'000.0;  // milliseconds
constexpr double kYear = 366 * kDay;
constexpr double kAnySize = 1LL << 50;

std::vector<Key> HubKeys() {
  return {
      {KEY(hub.source), .doc = "Where the model list comes from.", .restart = true,
       .allowed = {"live", "snapshot", "file", "directory"}},
      {KEY(hub.endpoint), .doc = "The Hub's URL; empty: HF_ENDPOINT, else the public Hub.", .restart = true,
       .check = HttpUrl},
      {KEY(hub.path), .doc = "The file of ids (source file) or the directory of NAME/config.json (source directory).",
       .restart = true},
      {KEY(hub.snapshot_dir), .doc = "The recorded Hub that source snapshot reads.", .restart = true,
       .check = NotEmpty},
      {.name = "hub.top",
       .field = FIELD(hub.list.top),
       .doc = "Models to take, best rank first.",
       .min = 1,
       .max = 1'000'000},
      {.name = "hub.per_family",
       .field = FIELD(hub.list.per_family),
       .doc = "Take hub.top of each family instead of overall."},
      {.name = "hub.sort",
       .field = FIELD(hub.list.sort),
       .doc = "What ranks the models.",
       .allowed = {AllSorts().begin(), AllSorts().end()}},
      {.name = "hub.filters",
       .field = FIELD(hub.list.filters),
       .doc = "Hub tags that every model must have.",
       .check = OneLine},
      {.name = "hub.author", .field = FIELD(hub.list.author), .doc = "Only models of this user or organisation."},
      {.name = "hub.search", .field = FIELD(hub.list.search), .doc = "Only models whose name contains this text."},
      {.name = "hub.task", .field = FIELD(hub.list.task), .doc = "Only models of this pipeline tag."},
      {.name = "hub.library", .field = FIELD(hub.list.library), .doc = "Only models of this library."},
      {.name = "hub.gated",
       .field = FIELD(hub.list.gated),
       .doc = "Only gated models (true), only open ones (false), or both (null)."},
      {.name = "hub.min_params",
       .field = FIELD(hub.list.min_params),
       .doc = "Models with fewer parameters are skipped.",
       .max = 1e15},
      {.name = "hub.max_params",
       .field = FIELD(hub.list.max_params),
       .doc = "Models with more parameters are skipped.",
       .max = 1e15},
      {KEY(hub.concurrency), .doc = "Requests to the Hub under way at once.", .restart = true, .min = 1, .max = 256},
      {KEY(hub.retries), .doc = "Further tries of a request that failed for a passing reason.", .restart = true,
       .max = 100},
      {KEY(hub.timeout),
       .doc = "Deadline of the whole listing, retries and pauses included, and of each request to the Hub. Null: ten "
              "minutes for the listing, HF_HUB_DOWNLOAD_TIMEOUT for a request.",
       .restart = true, .min = 100, .max = kDay},
      {KEY(hub.cache_dir), .doc = "The shared model cache; empty: HF_HUB_CACHE, else the Python client's place.",
       .restart = true},
      {KEY(hub.offline), .doc = "Make no request to the Hub; as HF_HUB_OFFLINE.", .restart = true},
  };
}

std::vector<std::string> ModeNames() { return {AllModes().begin(), AllModes().end()}; }
std::vector<std::string> CallNames() { return {AllCalls().begin(), AllCalls().end()}; }

std::vector<Key> CaptureKeys() {
  return {
      {KEY(capture.launcher),
       .doc = "Command put before capture.worker: \"auto\" is the sandbox of this machine, [] is none, or srun, ssh, "
              "docker run -i, ...",
       .restart = true, .check = NotEmpty},
      {KEY(capture.sandbox),
       .doc = "Where there is no sandbox (bubblewrap, else Landlock): require captures nothing, prefer captures the "
              "library's models with a warning and no code of your own, off never uses one.",
       .restart = true, .allowed = {"require", "prefer", "off"}},
      {KEY(capture.scratch_bytes),
       .doc = "What a worker in the sandbox may write, temporary files and shared memory together.", .is_size = true,
       .restart = true, .min = 16 << 20, .max = kAnySize},
      {KEY(capture.environment),
       .doc = "Further environment variables that workers get, as names or patterns; they get no others of yours.",
       .restart = true, .check = OneLine},
      {KEY(capture.worker),
       .doc = "Command that starts a worker. Empty: `python -m breakwatch_worker` of the primary toolchain, which is "
              ".venv "
              "unless capture.toolchain names another.",
       .restart = true, .check = NotEmpty},
      {KEY(capture.toolchain), .doc = "The primary toolchain: the environment whose numbers are published.",
       .restart = true, .check = Name},
      {KEY(capture.toolchains),
       .doc = "Further environments as NAME=PYTHON; a name that is not here is sought as .venv-NAME/bin/python.",
       .restart = true, .check = NamedPath},
      {KEY(capture.extra_toolchains), .doc = "Toolchains that sweep the same models after the primary one.",
       .names = true, .check = Name},
      {KEY(capture.zygotes), .doc = "Worker processes, one capture each at a time; 0: one a core.", .restart = true,
       .max = 1024},
      {KEY(capture.limits.create), .doc = "Deadline for building a model.", .min = 100, .max = kDay},
      {KEY(capture.limits.inputs), .doc = "Deadline for making its inputs.", .min = 100, .max = kDay},
      {KEY(capture.limits.eager), .doc = "Deadline for running it once without the compiler.", .min = 100, .max = kDay},
      {KEY(capture.limits.capture), .doc = "Deadline for tracing it.", .min = 100, .max = kDay},
      {KEY(capture.limits.rss_bytes), .doc = "Resident memory of a capture.", .is_size = true, .min = 64 << 20,
       .max = kAnySize},
      {KEY(capture.limits.output_bytes), .doc = "Kept of what a model prints.", .is_size = true, .min = 1024,
       .max = 1 << 30},
      {KEY(capture.silence), .doc = "A worker that says nothing for longer is killed.", .restart = true, .min = 3'000,
       .max = kDay},
      {KEY(capture.allow_factories), .doc = "Let workers run code of your own, for python: and script: models.",
       .restart = true},
      {KEY(capture.modes),
       .doc = "How models are run: each mode is a result of its own. eval is the steady state after a first call, cold "
              "the first call.",
       .names = true, .allowed = ModeNames()},
      {KEY(capture.calls),
       .doc = "Calls of library models that are captured, each a result of its own: minimal adds one with the required "
              "arguments alone, all also one with every optional tensor. Published is the default call.",
       .allowed = CallNames()},
      {KEY(capture.verify_share), .doc = "Share of the captured models that a sweep captures again at full depth.",
       .max = 1},
      {KEY(capture.seed), .doc = "Seed of that choice."},
      {KEY(capture.inputs_file),
       .doc = "JSON file of what models are called with: objects by model id or model_type:NAME, over the recipes."},
      {KEY(capture.repeat), .doc = "Captures made of each model, compared to find what is flaky.", .min = 1,
       .max = 100},
      {KEY(capture.memory), .doc = "Memory of all captures together; 0: what the machine can give.", .is_size = true,
       .max = kAnySize},
  };
}

std::vector<Key> SweepKeys() {
  return {
      {KEY(sweep.rebuild), .doc = "Which known captures are made again.", .allowed = {"if-needed", "always", "never"}},
      {KEY(sweep.interval), .doc = "serve: time between sweeps; null: on command only.", .min = 1'000, .max = kYear},
      {KEY(sweep.quarantine_after),
       .doc = "Time-outs, memory ends or crashes in a row that put a model into quarantine.", .min = 1, .max = 1000},
      {KEY(sweep.quarantine_for), .doc = "How long it stays there.", .min = 1'000, .max = kYear},
      {KEY(store.url), .doc = "sqlite:PATH or postgresql://HOST/DATABASE; empty: breakwatch.db in state_dir.",
       .restart = true, .check = StoreUrlText},
  };
}

std::vector<Key> PushgatewayKeys() {
  return {
      {KEY(exporters.pushgateway.url), .doc = "The Pushgateway; empty: metrics are not pushed.", .restart = true,
       .check = HttpUrl},
      {KEY(exporters.pushgateway.job), .doc = "Label job of the group.", .restart = true, .check = OneLine},
      {KEY(exporters.pushgateway.pool),
       .doc = "Label pool of the group, for daemons that share a gateway; pools hold disjoint models.", .restart = true,
       .check = NameOrEmpty},
      {KEY(exporters.pushgateway.shards), .doc = "Groups the snapshot is split into.", .restart = true, .min = 1,
       .max = 1024},
      {KEY(exporters.pushgateway.gzip), .doc = "Compress what is pushed.", .restart = true},
      {KEY(exporters.pushgateway.timeout), .doc = "Deadline of one push.", .restart = true, .min = 100, .max = kDay},
      {KEY(exporters.pushgateway.connect_timeout), .doc = "Deadline of connecting.", .restart = true, .min = 10,
       .max = kDay},
      {KEY(exporters.pushgateway.username), .doc = "User of basic auth; empty: none.", .restart = true},
      {KEY(exporters.pushgateway.password), .doc = "Password of basic auth.", .is_secret = true, .restart = true},
      {KEY(exporters.pushgateway.password_file), .doc = "File with the password.", .restart = true},
      {.name = "exporters.pushgateway.ca_file",
       .field = FIELD(exporters.pushgateway.tls.ca_file),
       .doc = "Certificates to trust (PEM); empty: the system's.",
       .restart = true},
      {.name = "exporters.pushgateway.cert_file",
       .field = FIELD(exporters.pushgateway.tls.cert_file),
       .doc = "Client certificate (PEM).",
       .restart = true},
      {.name = "exporters.pushgateway.key_file",
       .field = FIELD(exporters.pushgateway.tls.key_file),
       .doc = "Its key (PEM).",
       .restart = true},
      {.name = "exporters.pushgateway.insecure_skip_verify",
       .field = FIELD(exporters.pushgateway.tls.insecure_skip_verify),
       .doc = "Accept any certificate.",
       .restart = true},
      {KEY(exporters.pushgateway.required), .doc = "A sweep whose numbers it did not accept is incomplete.",
       .restart = true},
  };
}

std::vector<Key> LokiKeys() {
  return {
      {KEY(exporters.loki.url), .doc = "Loki, without /loki/api/v1/push; empty: events are not pushed.",
       .restart = true, .check = HttpUrl},
      {KEY(exporters.loki.tenant), .doc = "Tenant (X-Scope-OrgID); empty: none.", .restart = true,
       .check = NameOrEmpty},
      {KEY(exporters.loki.environment), .doc = "Stream label environment; empty: none.", .restart = true,
       .check = NameOrEmpty},
      {KEY(exporters.loki.pool), .doc = "Stream label pool; empty: none.", .restart = true, .check = NameOrEmpty},
      {KEY(exporters.loki.gzip), .doc = "Compress what is pushed.", .restart = true},
      {KEY(exporters.loki.timeout), .doc = "Deadline of one push.", .restart = true, .min = 100, .max = kDay},
      {KEY(exporters.loki.connect_timeout), .doc = "Deadline of connecting.", .restart = true, .min = 10, .max = kDay},
      {KEY(exporters.loki.username), .doc = "User of basic auth; empty: none.", .restart = true},
      {KEY(exporters.loki.password), .doc = "Password of basic auth.", .is_secret = true, .restart = true},
      {KEY(exporters.loki.password_file), .doc = "File with the password.", .restart = true},
      {.name = "exporters.loki.ca_file",
       .field = FIELD(exporters.loki.tls.ca_file),
       .doc = "Certificates to trust (PEM); empty: the system's.",
       .restart = true},
      {.name = "exporters.loki.cert_file",
       .field = FIELD(exporters.loki.tls.cert_file),
       .doc = "Client certificate (PEM).",
       .restart = true},
      {.name = "exporters.loki.key_file",
       .field = FIELD(exporters.loki.tls.key_file),
       .doc = "Its key (PEM).",
       .restart = true},
      {.name = "exporters.loki.insecure_skip_verify",
       .field = FIELD(exporters.loki.tls.insecure_skip_verify),
       .doc = "Accept any certificate.",
       .restart = true},
      {KEY(exporters.loki.required), .doc = "A sweep whose events it did not accept is incomplete.", .restart = true},
  };
}

std::vector<Key> LocalExporterKeys() {
  return {
      {KEY(exporters.file.enabled), .doc = "Write events to a rotated file of JSON lines.", .restart = true},
      {KEY(exporters.file.path), .doc = "That file; empty: logs/events.jsonl in state_dir.", .restart = true},
      {KEY(exporters.file.max_bytes), .doc = "It is rotated when longer.", .is_size = true, .restart = true,
       .min = 64 << 10, .max = kAnySize},
      {KEY(exporters.file.keep), .doc = "Rotated files kept.", .restart = true, .min = 1, .max = 1000},
      {KEY(exporters.console.enabled), .doc = "Write events to standard error.", .restart = true},
      {KEY(exporters.console.metrics), .doc = "Write a summary of the numbers to standard error.", .restart = true},
  };
}

std::vector<Key> DaemonKeys() {
  return {
      {KEY(delivery.drain_timeout), .doc = "After a sweep, how long required exporters may take to accept everything.",
       .restart = true, .max = kDay},
      {KEY(delivery.first_backoff), .doc = "Pause after the first failed delivery; it doubles.", .restart = true,
       .min = 1, .max = kDay},
      {KEY(delivery.max_backoff), .doc = "The longest pause.", .restart = true, .min = 1, .max = kDay},
      {KEY(delivery.check_target), .doc = "How often a Pushgateway is asked whether it was restarted.", .restart = true,
       .min = 100, .max = kDay},
      {KEY(delivery.metric_interval), .doc = "Least time between two pushes of numbers during a sweep.",
       .restart = true, .max = kDay},
      {KEY(delivery.batch_events), .doc = "Events in one push, at most.", .restart = true, .min = 1, .max = 100'000},
      {KEY(delivery.batch_bytes), .doc = "Bytes of events in one push, about.", .is_size = true, .restart = true,
       .min = 1024, .max = 64 << 20},
      {KEY(web.listen_address), .doc = "HOST:PORT of the HTTP server of serve; port 0: any free one.", .restart = true,
       .check = ListenAddress},
      {KEY(web.token), .doc = "Bearer token that requests which change something must carry.", .is_secret = true,
       .restart = true},
      {KEY(web.token_file), .doc = "File with that token; without a token such requests are refused.", .restart = true},
      {KEY(web.max_requests), .doc = "HTTP requests under way at once.", .restart = true, .min = 1, .max = 10'000},
      {KEY(web.enable_lifecycle), .doc = "Allow POST /-/reload.", .restart = true},
      {KEY(retention.unranked_sweeps), .doc = "Complete sweeps a model stays published after it left the ranking.",
       .max = 10'000},
      {KEY(retention.sweeps),
       .doc = "Sweeps whose directory and delivered events are kept; results and captures always are.", .min = 1,
       .max = 1'000'000},
      {KEY(metrics.extra),
       .doc = "Toolchains and modes (NAME or NAME/MODE) whose breaks are published beside, as breakwatch_breaks.",
       .check = ToolchainMode},
      {KEY(log.level), .doc = "Least level of the operator's log.", .restart = true,
       .allowed = {"debug", "info", "warn", "error"}},
      {KEY(log.format), .doc = "Form of the operator's log.", .restart = true, .allowed = {"text", "json"}},
  };
}

}  // namespace

std::vector<Key> MakeKeyTable() {
  std::vector<Key> keys{{KEY(state_dir),
                         .doc = "Everything breakwatch keeps is below this directory; where the working directory is "
                                "/, the default is /var/lib/breakwatch.",
                         .restart = true, .check = NotEmpty}};
  for (auto part :
       {HubKeys(), CaptureKeys(), SweepKeys(), PushgatewayKeys(), LokiKeys(), LocalExporterKeys(), DaemonKeys()}) {
    keys.insert(keys.end(), part.begin(), part.end());
  }
  return keys;
}

}  // namespace breakwatch::config
