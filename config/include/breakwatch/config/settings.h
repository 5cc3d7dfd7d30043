// Settings: every setting of breakwatch with its default beside it. A plain value; load.h fills it, keys.h names
// each field. A field's path is its key: `exporters.pushgateway.url`. The exceptions say so.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/fix.h"
#include "breakwatch/core/measure.h"
#include "breakwatch/core/model_lister.h"
#include "breakwatch/core/model_rules.h"

namespace breakwatch::config {

using std::chrono::milliseconds;

struct HubSettings {
  std::string source = "live";                           // "live", "snapshot", "file" or "directory"
  std::string endpoint;                                  // URL; empty: HF_ENDPOINT, else the public Hub
  std::string path;                                      // of the file of ids or the directory of configs
  std::string snapshot_dir = "collectors/hub/snapshot";  // the bundled snapshot, or one made by `hub record`
  ListRequest list;                     // what to list; keys hub.top, hub.sort, ... without "list"; `ids` has no key
  int concurrency = 16;                 // requests in flight
  int retries = 5;                      // of one request
  std::optional<milliseconds> timeout;  // of the whole listing and of one request; null: of the listing, ten minutes
  std::string cache_dir;                // empty: HF_HUB_CACHE, else the Python client's default
  bool offline = false;                 // true, or HF_HUB_OFFLINE: no request at all
};

struct ModelsSettings {
  std::string file;  // YAML: owners and overrides (models_file.h); empty: none
  ModelRules rules;  // the file's content, read by Load; no key
};

struct CaptureSettings {
  std::vector<std::string> launcher{"auto"};  // argument vector before `worker`; "auto": the sandbox
  std::string sandbox = "prefer";             // or "require", "off"; own code requires a sandbox unless "off"
  std::int64_t scratch_bytes = 2LL << 30;     // what a sandboxed worker may write, files and shared memory together
  std::vector<std::string> environment;       // names (patterns) of further variables for workers
  std::vector<std::string> worker;            // empty: the primary toolchain's
  std::string toolchain = "default";          // the primary one: whose numbers are published; `worker` runs in it
  std::vector<ToolchainRef> toolchains;       // with interpreters; a name without an entry is .venv-NAME
  std::vector<std::string> extra_toolchains;  // names: each sweeps the same models after the primary one
  int zygotes = 0;                            // processes that capture, one capture each at a time; 0: number of cores
  CaptureLimits limits;
  milliseconds silence{20'000};            // a zygote that is silent for longer is lost
  bool allow_factories = false;            // python: and script: selectors, the user's own code
  std::vector<std::string> modes{"eval"};  // of each model of a sweep
  std::string calls = "default";           // one of AllCalls(): in each of these modes
  double verify_share = 0.02;              // of clean structures, captured again at full depth each sweep
  std::uint64_t seed = 0;                  // of that choice
  std::string inputs_file;                 // JSON: the user's own inputs; empty: none
  int repeat = 1;                          // captures of each model, compared
  std::int64_t memory = 0;                 // bytes of all captures together; 0: what is available
  std::string fix = "off";                 // or "broken": after a sweep, try fixes on its models that break
  milliseconds fix_budget{600'000};        // for all attempts of one model
  milliseconds fix_attempt{120'000};       // for one attempt
};

struct MeasureSettings {
  std::vector<std::string> backends{kBackends.begin(), kBackends.end()};
  std::vector<std::string> batches{"1"};
  int seq = 0;           // length of sequences; 0: the usual one
  bool dynamic = false;  // also measure with dynamic shapes
  int threads = 1;
  std::string device = "cpu";
  std::string dtype;  // empty: the model's own
  bool full = false;  // the configuration as published, not the reduced model
  int min_runs = 30;
  milliseconds min_time{5'000};
  milliseconds timeout{3'600'000};                         // of all measurements of one model
  std::string prices_file;                                 // YAML: prices.h; empty: none
  std::string lock_file = "/tmp/breakwatch-measure.lock";  // empty: measurements do not exclude other captures
};

struct SweepSettings {
  std::string rebuild = "if-needed";     // "if-needed", "always" or "never"
  std::optional<milliseconds> interval;  // serve: from one sweep's start to the next; absent: only on request
  int quarantine_after = 3;              // time-outs, out-of-memory ends and crashes in a row
  milliseconds quarantine_for{24 * 3'600'000};
};

struct StoreSettings {
  std::string url;  // "sqlite:PATH" or "postgresql://..."; empty: breakwatch.db in state_dir
};

struct TlsSettings {
  std::string ca_file;              // PEM; empty: the system's
  std::string cert_file, key_file;  // client certificate, PEM
  bool insecure_skip_verify = false;
};

struct PushgatewaySettings {
  std::string url;  // empty: off
  std::string job = "breakwatch";
  std::string pool;  // part of the group; pools hold disjoint models
  int shards = 1;    // groups over which the models are split
  bool gzip = true;
  milliseconds timeout{30'000}, connect_timeout{5'000};
  std::string username, password, password_file;  // basic auth
  TlsSettings tls;                                // keys exporters.pushgateway.ca_file, ... without "tls"
  bool required = true;                           // a sweep whose numbers were not accepted is incomplete
};

struct LokiSettings {
  std::string url;                           // without /loki/api/v1/push; empty: off
  std::string tenant;                        // X-Scope-OrgID
  std::string environment, pool;             // stream labels
  std::string structured_metadata = "auto";  // or "true", "false"
  std::string start = "now";                 // or "beginning"
  std::optional<milliseconds> max_age;       // null: what Loki's answers say
  std::string too_old = "dead_letter";       // or "drop", "restamp"
  bool gzip = true;
  milliseconds timeout{30'000}, connect_timeout{5'000};
  std::string username, password, password_file;  // basic auth
  TlsSettings tls;                                // keys without "tls"
  bool required = true;
};

struct RemoteWriteSettings {
  std::string url;  // with its path; empty: off
  std::string job = "breakwatch";
  std::string instance, pool;                // further labels of every series; empty: none
  std::vector<std::string> external_labels;  // NAME=VALUE
  milliseconds interval{60'000};             // between two exports of the same numbers
  int batch_series = 2'000;                  // of one request
  std::string tenant;                        // X-Scope-OrgID
  std::vector<std::string> headers;          // NAME: VALUE
  milliseconds timeout{30'000}, connect_timeout{5'000};
  std::string username, password, password_file;  // basic auth
  std::string bearer_token, bearer_token_file;    // instead of a user
  TlsSettings tls;                                // keys without "tls"
  bool required = true;
};

// Of one signal, instead of what both have. Keys with the name of the signal in front.
struct OtlpSignalSettings {
  std::string protocol;                 // empty: that of both
  std::string compression;              // "gzip", "none"; empty: as `gzip`
  std::optional<milliseconds> timeout;  // null: that of both
  std::string ca_file;                  // empty: that of both
  std::string cert_file, key_file;      // empty: those of both
};

// On as soon as there is an endpoint.
struct OtlpSettings {
  bool enabled = true;                          // false: also with an endpoint
  std::string endpoint;                         // of both signals: /v1/metrics and /v1/logs are added to it
  std::string metrics_endpoint, logs_endpoint;  // instead, as they are
  bool metrics = true, logs = true;             // signals
  std::string protocol = "http/protobuf";       // or "http/json"
  milliseconds interval{60'000};                // at which the metrics are sent again
  std::int64_t max_request_bytes = 4LL << 20;   // of metrics, before compression
  std::string start = "now";                    // or "beginning": of the events
  std::string service_name;                     // empty: that in `resource`, else breakwatch
  std::vector<std::string> resource;            // NAME=VALUE: further attributes
  bool gzip = true;
  milliseconds timeout{30'000}, connect_timeout{5'000};
  std::string username, password, password_file;                                       // basic auth
  std::string headers, headers_file;                                                   // of both signals
  std::string metrics_headers, metrics_headers_file, logs_headers, logs_headers_file;  // instead
  TlsSettings tls;                                                                     // keys without "tls"
  OtlpSignalSettings of_metrics, of_logs;
  bool required = true;
};

struct EventFileSettings {
  bool enabled = true;
  std::string path;                     // empty: logs/events.jsonl in state_dir
  std::int64_t max_bytes = 64LL << 20;  // rotated when longer
  int keep = 5;                         // rotated files kept
};

struct ConsoleSettings {
  bool enabled = false;  // events as lines on standard error
  bool metrics = false;  // a summary of the numbers there
};

struct ExporterSettings {
  PushgatewaySettings pushgateway;
  LokiSettings loki;
  RemoteWriteSettings remote_write;
  OtlpSettings otlp;
  EventFileSettings file;
  ConsoleSettings console;
};

struct DeliverySettings {
  milliseconds drain_timeout{30'000};  // for required exporters, after a sweep
  milliseconds first_backoff{500}, max_backoff{60'000};
  milliseconds check_target{15'000};     // interval of the check for a restarted gateway
  milliseconds metric_interval{30'000};  // shortest time between two snapshots during a sweep
  milliseconds linger{1'000};            // time that events wait for others
  int batch_events = 1000;
  std::int64_t batch_bytes = 64 << 10;
};

struct WebSettings {
  std::string listen_address = "127.0.0.1:9723";  // HOST:PORT; port 0: any free one
  std::string token, token_file;                  // bearer token of requests that change something
  int max_requests = 64;                          // at once
  bool enable_lifecycle = false;                  // POST /-/reload
  std::vector<std::string> allowed_hosts;         // names with a dot by which requests may call the daemon
};

struct RegistrySettings {
  std::string username, password, password_file;  // basic auth
  std::string token, token_file;                  // bearer token, instead of a user
  milliseconds timeout{60'000}, connect_timeout{5'000};
  TlsSettings tls;  // keys artifact.registry.ca_file, ... without "tls"
};

struct ArtifactSettings {
  std::string runner;                                             // breakwatch-runner; empty: beside this program
  milliseconds build_timeout{1'800'000}, check_timeout{600'000};  // of one package
  std::int64_t check_rss_bytes = 6LL << 30;                       // of the program that checks
  std::int64_t max_weight_bytes = 32LL << 30;                     // of one model, from the Hub
  RegistrySettings registry;
};

struct RetentionSettings {
  int unranked_sweeps = 3;            // complete ranked sweeps for which a model stays after it left the ranking
  int sweeps = 100;                   // whose directories and delivered events are kept; results are always kept
  std::optional<milliseconds> age;    // of these sweeps since they ended; null: any
  std::optional<std::int64_t> bytes;  // of their directories together; null: any
  int trend_days = 1830;              // days whose trends are kept; 0: all
};

struct MetricsSettings {
  std::vector<std::string> extra;  // NAME or NAME/MODE: further toolchains whose breaks are published
  std::vector<std::string> drop;   // names of metrics that are not published
  bool phases = true;              // durations of captures by phase
};

struct LogSettings {
  std::string level = "info";   // "debug", "info", "warn" or "error"
  std::string format = "text";  // "text" or "json"
};

struct Settings {
  std::string state_dir = "var";
  HubSettings hub;
  ModelsSettings models;
  CaptureSettings capture;
  MeasureSettings measure;
  SweepSettings sweep;
  StoreSettings store;
  ExporterSettings exporters;
  DeliverySettings delivery;
  WebSettings web;
  ArtifactSettings artifact;
  RetentionSettings retention;
  MetricsSettings metrics;
  LogSettings log;
};

// Defaults that depend on other settings, filled in.
std::string StoreUrl(const Settings& settings);       // never empty
std::string EventFilePath(const Settings& settings);  // never empty
// Where a signal is sent; empty: it is not.
std::string OtlpMetricsUrl(const OtlpSettings& settings);
std::string OtlpLogsUrl(const OtlpSettings& settings);
// The options of measurements and of fixes as the settings have them.
MeasureOptions MeasureOptionsOf(const MeasureSettings& settings);
FixOptions FixOptionsOf(const CaptureSettings& settings);

}  // namespace breakwatch::config
