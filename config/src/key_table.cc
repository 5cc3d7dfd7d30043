// The table: one entry per setting, in the order of the example file.
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
      {KEY(hub.endpoint), .doc = "URL of the Hub; empty: HF_ENDPOINT, else the public Hub.", .restart = true,
       .check = HttpUrl},
      {KEY(hub.path), .doc = "File of ids (source file), or directory of NAME/config.json (source directory).",
       .restart = true},
      {KEY(hub.snapshot_dir), .doc = "The recorded Hub of source snapshot.", .restart = true, .check = NotEmpty},
      {.name = "hub.top",
       .field = FIELD(hub.list.top),
       .doc = "Number of models, best rank first.",
       .min = 1,
       .max = 1'000'000},
      {.name = "hub.per_family", .field = FIELD(hub.list.per_family), .doc = "Take hub.top models of each family."},
      {.name = "hub.sort",
       .field = FIELD(hub.list.sort),
       .doc = "Order of the ranking: downloads, likes, lastModified, createdAt, trendingScore.",
       .allowed = {AllSorts().begin(), AllSorts().end()}},
      {.name = "hub.filters",
       .field = FIELD(hub.list.filters),
       .doc = "Hub tags that every model must have.",
       .check = OneLine},
      {.name = "hub.author", .field = FIELD(hub.list.author), .doc = "Only models of this user or organisation."},
      {.name = "hub.search", .field = FIELD(hub.list.search), .doc = "Only models whose name contains this text."},
      {.name = "hub.task", .field = FIELD(hub.list.task), .doc = "Only models with this pipeline tag."},
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
      {KEY(hub.concurrency), .doc = "Maximum number of concurrent requests to the Hub.", .restart = true, .min = 1,
       .max = 256},
      {KEY(hub.retries), .doc = "Retries of a request that failed temporarily.", .restart = true, .max = 100},
      {KEY(hub.timeout),
       .doc =
           "Deadline of the whole listing, including retries and pauses, and of each request. Null: 10 minutes for the "
           "listing, HF_HUB_DOWNLOAD_TIMEOUT for each request.",
       .restart = true, .min = 100, .max = kDay},
      {KEY(hub.cache_dir),
       .doc = "Model cache shared with the Python client; empty: HF_HUB_CACHE, else the client's default.",
       .restart = true},
      {KEY(hub.offline), .doc = "Make no request to the Hub, as with HF_HUB_OFFLINE.", .restart = true},
  };
}

std::vector<Key> ModelsKeys() {
  return {
      {KEY(models.file), .doc = "YAML file with owners of models, and with inputs, modes and limits of some models."}};
}

std::vector<std::string> ModeNames() { return {AllModes().begin(), AllModes().end()}; }
std::vector<std::string> CallNames() { return {AllCalls().begin(), AllCalls().end()}; }

std::vector<Key> CaptureKeys() {
  return {
      {KEY(capture.launcher),
       .doc = "Command in front of capture.worker. auto: this machine's sandbox; []: none; or your own, such as "
              "[srun], [ssh, host], [docker, run, -i, IMAGE].",
       .restart = true, .check = NotEmpty},
      {KEY(capture.sandbox),
       .doc = "What to do on a machine without a sandbox: require captures nothing, prefer captures the library's "
              "models with a warning and none of your own code, off never uses a sandbox.",
       .restart = true, .allowed = {"require", "prefer", "off"}},
      {KEY(capture.scratch_bytes),
       .doc = "How much a worker may write in the sandbox: temporary files and shared memory together.",
       .is_size = true, .restart = true, .min = 16 << 20, .max = kAnySize},
      {KEY(capture.environment),
       .doc = "Names or patterns of additional environment variables that are passed to workers.", .restart = true,
       .check = OneLine},
      {KEY(capture.worker),
       .doc = "Command that starts a worker. Empty: python -m breakwatch_worker of the primary toolchain.",
       .restart = true, .check = NotEmpty},
      {KEY(capture.toolchain), .doc = "The primary toolchain, whose numbers are published.", .restart = true,
       .check = Name},
      {KEY(capture.toolchains),
       .doc = "Further toolchains as NAME=PYTHON; a name without an entry is one that breakwatch setup made.",
       .restart = true, .check = NamedPython},
      {KEY(capture.extra_toolchains), .doc = "Toolchains to sweep the same models with, after the primary one.",
       .names = true, .check = Name},
      {KEY(capture.zygotes), .doc = "Worker processes, with one capture each at a time; 0: one for each core.",
       .restart = true, .max = 1024},
      {KEY(capture.limits.create), .doc = "Deadline for building a model.", .min = 100, .max = kDay},
      {KEY(capture.limits.inputs), .doc = "Deadline for making the inputs of a model.", .min = 100, .max = kDay},
      {KEY(capture.limits.eager), .doc = "Deadline for running a model once without the compiler.", .min = 100,
       .max = kDay},
      {KEY(capture.limits.capture), .doc = "Deadline for tracing a model.", .min = 100, .max = kDay},
      {KEY(capture.limits.rss_bytes), .doc = "Memory limit of a capture (resident).", .is_size = true, .min = 64 << 20,
       .max = kAnySize},
      {KEY(capture.limits.output_bytes), .doc = "How much of a model's output is kept.", .is_size = true, .min = 1024,
       .max = 1 << 30},
      {KEY(capture.silence), .doc = "A worker that sends nothing for longer is killed.", .restart = true, .min = 3'000,
       .max = kDay},
      {KEY(capture.allow_factories), .doc = "Let workers run your own code, for python: and script: models.",
       .restart = true},
      {KEY(capture.modes),
       .doc = "Modes; each has its own result. One or more of eval, train, dynamic, fullgraph, nested, export, "
              "recompile, cold.",
       .names = true, .allowed = ModeNames()},
      {KEY(capture.calls),
       .doc = "Calls to capture: default, minimal or all. With minimal, also the call with the required arguments "
              "only. With all, that call and one with every optional tensor.",
       .allowed = CallNames()},
      {KEY(capture.verify_share),
       .doc = "Share of the captured models that each sweep captures again at full depth, to compare with the reduced "
              "capture.",
       .max = 1},
      {KEY(capture.seed), .doc = "Random seed for selecting the models of capture.verify_share."},
      {KEY(capture.inputs_file), .doc = "JSON file with your own inputs by model id or model_type:NAME."},
      {KEY(capture.repeat), .doc = "Captures of each model, compared to find flaky results.", .min = 1, .max = 100},
      {KEY(capture.memory), .doc = "Memory limit of all captures together; 0: what the machine has available.",
       .is_size = true, .max = kAnySize},
      {KEY(capture.fix), .doc = "Whether to try fixes on the models of a sweep that break, after it: off or broken.",
       .allowed = {"off", "broken"}},
      {KEY(capture.fix_budget), .doc = "Deadline for trying fixes on one model.", .min = 1'000, .max = kDay},
      {KEY(capture.fix_attempt), .doc = "Deadline for one attempt with a fix.", .min = 1'000, .max = kDay},
  };
}

std::vector<std::string> BackendNames() { return {kBackends.begin(), kBackends.end()}; }
std::vector<std::string> DtypeNames() {
  std::vector<std::string> names{""};
  names.insert(names.end(), kDtypes.begin(), kDtypes.end());
  return names;
}

std::vector<Key> MeasureKeys() {
  return {
      {KEY(measure.backends), .doc = "Backends to measure: eager, inductor, aot_inductor, onnxruntime, torchscript.",
       .names = true, .allowed = BackendNames()},
      {KEY(measure.batches), .doc = "Batch sizes to measure, each from 1 to 65536.", .names = true, .check = BatchSize},
      {KEY(measure.seq), .doc = "Length of sequences; 0: that of the usual inputs.", .max = 1 << 20},
      {KEY(measure.dynamic), .doc = "Measure also with dynamic shapes."},
      {KEY(measure.threads), .doc = "Threads of a measured model.", .min = 1, .max = 1024},
      {KEY(measure.device), .doc = "Device: cpu or cuda.", .allowed = {"cpu", "cuda"}},
      {KEY(measure.dtype), .doc = "Data type: float32, bfloat16, float16; empty: that of the model.",
       .allowed = DtypeNames()},
      {KEY(measure.full),
       .doc = "Measure the configuration as published, with random weights, instead of the reduced model."},
      {KEY(measure.min_runs), .doc = "Least number of runs of each measurement.", .min = 1, .max = 1'000'000},
      {KEY(measure.min_time), .doc = "Least time of each measurement.", .min = 1, .max = 3'600'000},
      {KEY(measure.timeout), .doc = "Deadline for all measurements of a model.", .min = 1'000, .max = kDay},
      {KEY(measure.prices_file), .doc = "YAML file with prices of machines, for the cost of a million requests."},
      {KEY(measure.lock_file),
       .doc = "File that all processes of a machine lock, so that nothing else is captured during a measurement; "
              "empty: no lock.",
       .restart = true},
  };
}

std::vector<Key> SweepKeys() {
  return {
      {KEY(sweep.rebuild), .doc = "Which known captures are repeated: if-needed, always, never.",
       .allowed = {"if-needed", "always", "never"}},
      {KEY(sweep.interval),
       .doc = "Time between sweeps of serve; null: only on request. A one-shot sweep only publishes it, for alerts.",
       .min = 1'000, .max = kYear},
      {KEY(sweep.quarantine_after),
       .doc = "Time-outs, out-of-memory ends or crashes in a row that put a model in quarantine.", .min = 1,
       .max = 1000},
      {KEY(sweep.quarantine_for), .doc = "Duration of the quarantine.", .min = 1'000, .max = kYear},
      {KEY(store.url), .doc = "Database: sqlite:PATH or postgresql://HOST/DATABASE; empty: breakwatch.db in state_dir.",
       .restart = true, .check = StoreUrlText},
  };
}

std::vector<Key> PushgatewayKeys() {
  return {
      {KEY(exporters.pushgateway.url), .doc = "URL of the Pushgateway; empty: metrics are not pushed.", .restart = true,
       .check = HttpUrl},
      {KEY(exporters.pushgateway.job), .doc = "Label job of the group.", .restart = true, .check = OneLine},
      {KEY(exporters.pushgateway.pool),
       .doc = "Label pool of the group, for daemons that share a gateway; pools hold disjoint models.", .restart = true,
       .check = NameOrEmpty},
      {KEY(exporters.pushgateway.shards), .doc = "Number of groups that the models are split into.", .restart = true,
       .min = 1, .max = 1024},
      {KEY(exporters.pushgateway.gzip), .doc = "Compress requests.", .restart = true},
      {KEY(exporters.pushgateway.timeout), .doc = "Deadline of one push; a second more for each 2 MiB of its text.",
       .restart = true, .min = 100, .max = kDay},
      {KEY(exporters.pushgateway.connect_timeout), .doc = "Deadline for connecting.", .restart = true, .min = 10,
       .max = kDay},
      {KEY(exporters.pushgateway.username), .doc = "User of basic authentication; empty: none.", .restart = true},
      {KEY(exporters.pushgateway.password), .doc = "Password of basic authentication.", .is_secret = true,
       .restart = true},
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
       .doc = "Key of the client certificate (PEM).",
       .restart = true},
      {.name = "exporters.pushgateway.insecure_skip_verify",
       .field = FIELD(exporters.pushgateway.tls.insecure_skip_verify),
       .doc = "Accept any certificate.",
       .restart = true},
      {KEY(exporters.pushgateway.required), .doc = "A sweep whose metrics were not accepted is incomplete.",
       .restart = true},
  };
}

std::vector<Key> LokiKeys() {
  return {
      {KEY(exporters.loki.url), .doc = "URL of Loki without /loki/api/v1/push; empty: events are not pushed.",
       .restart = true, .check = HttpUrl},
      {KEY(exporters.loki.tenant), .doc = "Tenant (X-Scope-OrgID); empty: none.", .restart = true,
       .check = NameOrEmpty},
      {KEY(exporters.loki.environment), .doc = "Stream label environment; empty: none.", .restart = true,
       .check = NameOrEmpty},
      {KEY(exporters.loki.pool), .doc = "Stream label pool; empty: none.", .restart = true, .check = NameOrEmpty},
      {KEY(exporters.loki.structured_metadata),
       .doc = "Send sweep_id, model and commit as structured metadata: auto stops if Loki refuses it, true, false.",
       .restart = true, .allowed = {"auto", "true", "false"}},
      {KEY(exporters.loki.start),
       .doc = "What a Loki gets that is added to a store with events: those from now on, or all from the beginning.",
       .restart = true, .allowed = {"now", "beginning"}},
      {KEY(exporters.loki.max_age), .doc = "Events older than this are too old for Loki; null: as Loki's answers say.",
       .restart = true, .min = 60'000, .max = kYear},
      {KEY(exporters.loki.too_old),
       .doc = "What happens to events that are too old: dead_letter keeps them as dead letters, drop skips them, "
              "restamp sends them with a time that Loki accepts.",
       .restart = true, .allowed = {"dead_letter", "drop", "restamp"}},
      {KEY(exporters.loki.gzip), .doc = "Compress requests.", .restart = true},
      {KEY(exporters.loki.timeout), .doc = "Deadline of one push.", .restart = true, .min = 100, .max = kDay},
      {KEY(exporters.loki.connect_timeout), .doc = "Deadline for connecting.", .restart = true, .min = 10, .max = kDay},
      {KEY(exporters.loki.username), .doc = "User of basic authentication; empty: none.", .restart = true},
      {KEY(exporters.loki.password), .doc = "Password of basic authentication.", .is_secret = true, .restart = true},
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
       .doc = "Key of the client certificate (PEM).",
       .restart = true},
      {.name = "exporters.loki.insecure_skip_verify",
       .field = FIELD(exporters.loki.tls.insecure_skip_verify),
       .doc = "Accept any certificate.",
       .restart = true},
      {KEY(exporters.loki.required), .doc = "A sweep whose events were not accepted is incomplete.", .restart = true},
  };
}

std::vector<Key> RemoteWriteKeys() {
  return {
      {KEY(exporters.remote_write.url),
       .doc = "URL of a remote write 1.0 receiver with its path; empty: metrics are not written.", .restart = true,
       .check = HttpUrl},
      {KEY(exporters.remote_write.job), .doc = "Label job of every series.", .restart = true, .check = OneLine},
      {KEY(exporters.remote_write.instance),
       .doc = "Label instance of every series; empty: none, so that sweeps on several machines continue one series.",
       .restart = true, .check = OneLineOrEmpty},
      {KEY(exporters.remote_write.pool),
       .doc = "Label pool of every series, for daemons that share a receiver; pools hold disjoint models.",
       .restart = true, .check = NameOrEmpty},
      {KEY(exporters.remote_write.external_labels), .doc = "Further labels of every series, each as NAME=VALUE.",
       .restart = true, .check = ExternalLabel},
      {KEY(exporters.remote_write.interval),
       .doc = "Time after which the same metrics are written again; Prometheus forgets series after five minutes.",
       .restart = true, .min = 100, .max = kDay},
      {KEY(exporters.remote_write.batch_series), .doc = "Maximum number of series in one request.", .restart = true,
       .min = 1, .max = 100'000},
      {KEY(exporters.remote_write.tenant), .doc = "Tenant (X-Scope-OrgID) of Mimir and the like; empty: none.",
       .restart = true, .check = NameOrEmpty},
      {KEY(exporters.remote_write.headers), .doc = "Further headers of requests, each as NAME: VALUE.", .restart = true,
       .check = HttpHeader},
      {KEY(exporters.remote_write.timeout), .doc = "Deadline of one request.", .restart = true, .min = 100,
       .max = kDay},
      {KEY(exporters.remote_write.connect_timeout), .doc = "Deadline for connecting.", .restart = true, .min = 10,
       .max = kDay},
      {KEY(exporters.remote_write.username), .doc = "User of basic authentication; empty: none.", .restart = true},
      {KEY(exporters.remote_write.password), .doc = "Password of basic authentication.", .is_secret = true,
       .restart = true},
      {KEY(exporters.remote_write.password_file), .doc = "File with the password.", .restart = true},
      {KEY(exporters.remote_write.bearer_token), .doc = "Bearer token, instead of a user.", .is_secret = true,
       .restart = true},
      {KEY(exporters.remote_write.bearer_token_file), .doc = "File with the bearer token.", .restart = true},
      {.name = "exporters.remote_write.ca_file",
       .field = FIELD(exporters.remote_write.tls.ca_file),
       .doc = "Certificates to trust (PEM); empty: the system's.",
       .restart = true},
      {.name = "exporters.remote_write.cert_file",
       .field = FIELD(exporters.remote_write.tls.cert_file),
       .doc = "Client certificate (PEM).",
       .restart = true},
      {.name = "exporters.remote_write.key_file",
       .field = FIELD(exporters.remote_write.tls.key_file),
       .doc = "Key of the client certificate (PEM).",
       .restart = true},
      {.name = "exporters.remote_write.insecure_skip_verify",
       .field = FIELD(exporters.remote_write.tls.insecure_skip_verify),
       .doc = "Accept any certificate.",
       .restart = true},
      {KEY(exporters.remote_write.required), .doc = "A sweep whose metrics were not accepted is incomplete.",
       .restart = true},
  };
}

// Of one signal, instead of what both have.
std::vector<Key> OtlpSignalKeys() {
  return {
      {.name = "exporters.otlp.metrics_protocol",
       .field = FIELD(exporters.otlp.of_metrics.protocol),
       .doc = "Encoding of requests with metrics, instead of protocol.",
       .restart = true,
       .check = OtlpProtocol},
      {.name = "exporters.otlp.metrics_compression",
       .field = FIELD(exporters.otlp.of_metrics.compression),
       .doc = "Compression of requests with metrics, gzip or none; empty: as the setting gzip says.",
       .restart = true,
       .check = OtlpCompression},
      {.name = "exporters.otlp.metrics_timeout",
       .field = FIELD(exporters.otlp.of_metrics.timeout),
       .doc = "Deadline of one request with metrics; null: that of timeout.",
       .restart = true,
       .min = 100,
       .max = kDay},
      {.name = "exporters.otlp.metrics_ca_file",
       .field = FIELD(exporters.otlp.of_metrics.ca_file),
       .doc = "Certificates to trust for metrics (PEM), instead of ca_file.",
       .restart = true},
      {.name = "exporters.otlp.metrics_cert_file",
       .field = FIELD(exporters.otlp.of_metrics.cert_file),
       .doc = "Client certificate for metrics (PEM), instead of cert_file.",
       .restart = true},
      {.name = "exporters.otlp.metrics_key_file",
       .field = FIELD(exporters.otlp.of_metrics.key_file),
       .doc = "Key of that client certificate (PEM).",
       .restart = true},
      {.name = "exporters.otlp.logs_protocol",
       .field = FIELD(exporters.otlp.of_logs.protocol),
       .doc = "Encoding of requests with logs, instead of protocol.",
       .restart = true,
       .check = OtlpProtocol},
      {.name = "exporters.otlp.logs_compression",
       .field = FIELD(exporters.otlp.of_logs.compression),
       .doc = "Compression of requests with logs, gzip or none; empty: as the setting gzip says.",
       .restart = true,
       .check = OtlpCompression},
      {.name = "exporters.otlp.logs_timeout",
       .field = FIELD(exporters.otlp.of_logs.timeout),
       .doc = "Deadline of one request with logs; null: that of timeout.",
       .restart = true,
       .min = 100,
       .max = kDay},
      {.name = "exporters.otlp.logs_ca_file",
       .field = FIELD(exporters.otlp.of_logs.ca_file),
       .doc = "Certificates to trust for logs (PEM), instead of ca_file.",
       .restart = true},
      {.name = "exporters.otlp.logs_cert_file",
       .field = FIELD(exporters.otlp.of_logs.cert_file),
       .doc = "Client certificate for logs (PEM), instead of cert_file.",
       .restart = true},
      {.name = "exporters.otlp.logs_key_file",
       .field = FIELD(exporters.otlp.of_logs.key_file),
       .doc = "Key of that client certificate (PEM).",
       .restart = true},
  };
}

std::vector<Key> OtlpKeys() {
  return {
      {KEY(exporters.otlp.enabled),
       .doc = "Send by OTLP if there is an endpoint; false: OTEL_* variables send nothing either.", .restart = true},
      {KEY(exporters.otlp.endpoint),
       .doc = "URL of an OTLP/HTTP receiver, to which /v1/metrics and /v1/logs are added; empty: nothing is sent.",
       .restart = true, .check = HttpUrl},
      {KEY(exporters.otlp.metrics_endpoint), .doc = "Whole URL for metrics, instead of that of endpoint.",
       .restart = true, .check = HttpUrl},
      {KEY(exporters.otlp.logs_endpoint), .doc = "Whole URL for logs, instead of that of endpoint.", .restart = true,
       .check = HttpUrl},
      {KEY(exporters.otlp.metrics), .doc = "Send metrics.", .restart = true},
      {KEY(exporters.otlp.logs), .doc = "Send events as logs.", .restart = true},
      {KEY(exporters.otlp.protocol), .doc = "Encoding: http/protobuf or http/json.", .restart = true,
       .allowed = {"http/protobuf", "http/json"}},
      {KEY(exporters.otlp.interval), .doc = "Interval at which serve sends unchanged metrics again.", .restart = true,
       .min = 1'000, .max = kDay},
      {KEY(exporters.otlp.max_request_bytes),
       .doc = "Largest request with metrics, before compression; more metrics are sent in several requests.",
       .is_size = true, .restart = true, .min = 16 << 10, .max = 64 << 20},
      {KEY(exporters.otlp.start),
       .doc =
           "What a receiver gets that is added to a store with events: those from now on, or all from the beginning.",
       .restart = true, .allowed = {"now", "beginning"}},
      {KEY(exporters.otlp.service_name),
       .doc = "Resource attribute service.name; empty: that in resource, else breakwatch.", .restart = true},
      {KEY(exporters.otlp.resource), .doc = "Further resource attributes, NAME=VALUE.", .restart = true,
       .check = NameValue},
      {KEY(exporters.otlp.gzip), .doc = "Compress requests.", .restart = true},
      {KEY(exporters.otlp.timeout), .doc = "Deadline of one request.", .restart = true, .min = 100, .max = kDay},
      {KEY(exporters.otlp.connect_timeout), .doc = "Deadline for connecting.", .restart = true, .min = 10, .max = kDay},
      {KEY(exporters.otlp.username), .doc = "User of basic authentication; empty: none.", .restart = true},
      {KEY(exporters.otlp.password), .doc = "Password of basic authentication.", .is_secret = true, .restart = true},
      {KEY(exporters.otlp.password_file), .doc = "File with the password.", .restart = true},
      {KEY(exporters.otlp.headers),
       .doc = "Headers of every request, NAME=VALUE,NAME=VALUE with percent-encoded values.", .is_secret = true,
       .restart = true, .check = HeaderPairs},
      {KEY(exporters.otlp.headers_file), .doc = "File with headers, a line NAME: VALUE for each.", .restart = true},
      {KEY(exporters.otlp.metrics_headers), .doc = "Headers of requests with metrics, instead of headers.",
       .is_secret = true, .restart = true, .check = HeaderPairs},
      {KEY(exporters.otlp.metrics_headers_file), .doc = "File with headers of requests with metrics.", .restart = true},
      {KEY(exporters.otlp.logs_headers), .doc = "Headers of requests with logs, instead of headers.", .is_secret = true,
       .restart = true, .check = HeaderPairs},
      {KEY(exporters.otlp.logs_headers_file), .doc = "File with headers of requests with logs.", .restart = true},
      {.name = "exporters.otlp.ca_file",
       .field = FIELD(exporters.otlp.tls.ca_file),
       .doc = "Certificates to trust (PEM); empty: the system's.",
       .restart = true},
      {.name = "exporters.otlp.cert_file",
       .field = FIELD(exporters.otlp.tls.cert_file),
       .doc = "Client certificate (PEM).",
       .restart = true},
      {.name = "exporters.otlp.key_file",
       .field = FIELD(exporters.otlp.tls.key_file),
       .doc = "Key of the client certificate (PEM).",
       .restart = true},
      {.name = "exporters.otlp.insecure_skip_verify",
       .field = FIELD(exporters.otlp.tls.insecure_skip_verify),
       .doc = "Accept any certificate.",
       .restart = true},
      {KEY(exporters.otlp.required),
       .doc = "A sweep whose metrics and events were not accepted is incomplete; not by default if the "
              "endpoint comes from an OTEL_* variable.",
       .restart = true},
  };
}

std::vector<Key> LocalExporterKeys() {
  return {
      {KEY(exporters.file.enabled), .doc = "Write events to a rotated file of JSON lines.", .restart = true},
      {KEY(exporters.file.path), .doc = "Path of the event file; empty: logs/events.jsonl in state_dir.",
       .restart = true},
      {KEY(exporters.file.max_bytes), .doc = "Size at which the event file is rotated.", .is_size = true,
       .restart = true, .min = 64 << 10, .max = kAnySize},
      {KEY(exporters.file.keep), .doc = "Rotated files to keep.", .restart = true, .min = 1, .max = 1000},
      {KEY(exporters.console.enabled), .doc = "Write events to standard error.", .restart = true},
      {KEY(exporters.console.metrics), .doc = "Write a summary of the metrics to standard error.", .restart = true},
  };
}

std::vector<Key> ArtifactKeys() {
  return {
      {KEY(artifact.runner), .doc = "The program that checks packages; empty: breakwatch-runner beside breakwatch."},
      {KEY(artifact.build_timeout), .doc = "Deadline for compiling a package.", .min = 1'000, .max = kDay},
      {KEY(artifact.check_timeout), .doc = "Deadline for checking a package.", .min = 1'000, .max = kDay},
      {KEY(artifact.check_rss_bytes), .doc = "Memory limit for checking a package (resident).", .is_size = true,
       .min = 64 << 20, .max = kAnySize},
      {KEY(artifact.max_weight_bytes), .doc = "Weights of a model that are larger are not fetched from the Hub.",
       .is_size = true, .min = 1, .max = kAnySize},
      {KEY(artifact.registry.username), .doc = "User of basic authentication at a registry; empty: none."},
      {KEY(artifact.registry.password), .doc = "Password of basic authentication.", .is_secret = true},
      {KEY(artifact.registry.password_file), .doc = "File with the password."},
      {KEY(artifact.registry.token), .doc = "Bearer token for a registry.", .is_secret = true},
      {KEY(artifact.registry.token_file), .doc = "File with the bearer token."},
      {KEY(artifact.registry.timeout),
       .doc = "Ends a request to a registry during which nothing comes or goes for so long; whole seconds.",
       .min = 1'000, .max = kDay},
      {KEY(artifact.registry.connect_timeout), .doc = "Deadline for connecting.", .min = 10, .max = kDay},
      {.name = "artifact.registry.ca_file",
       .field = FIELD(artifact.registry.tls.ca_file),
       .doc = "Certificates to trust (PEM); empty: the system's."},
      {.name = "artifact.registry.cert_file",
       .field = FIELD(artifact.registry.tls.cert_file),
       .doc = "Client certificate (PEM)."},
      {.name = "artifact.registry.key_file",
       .field = FIELD(artifact.registry.tls.key_file),
       .doc = "Key of the client certificate (PEM)."},
      {.name = "artifact.registry.insecure_skip_verify",
       .field = FIELD(artifact.registry.tls.insecure_skip_verify),
       .doc = "Accept any certificate."},
  };
}

std::vector<Key> DaemonKeys() {
  return {
      {KEY(delivery.drain_timeout),
       .doc = "Time that required exporters get after a sweep to accept everything; others get up to 5 s, and no time "
              "after a failure.",
       .restart = true, .max = kDay},
      {KEY(delivery.first_backoff), .doc = "Pause after the first failed delivery; it doubles each time.",
       .restart = true, .min = 1, .max = kDay},
      {KEY(delivery.max_backoff), .doc = "Longest pause between two deliveries.", .restart = true, .min = 1,
       .max = kDay},
      {KEY(delivery.check_target), .doc = "Interval at which the Pushgateway is checked for a restart.",
       .restart = true, .min = 100, .max = kDay},
      {KEY(delivery.metric_interval), .doc = "Shortest time between two pushes of metrics during a sweep.",
       .restart = true, .max = kDay},
      {KEY(delivery.linger), .doc = "Time that new events for Loki wait for others, to be sent together.",
       .restart = true, .max = 60'000},
      {KEY(delivery.batch_events), .doc = "Maximum number of events in one push.", .restart = true, .min = 1,
       .max = 100'000},
      {KEY(delivery.batch_bytes),
       .doc = "Approximate bytes of events in one push to Loki; more than 192 KiB can double events in Loki after a "
              "lost answer.",
       .is_size = true, .restart = true, .min = 1024, .max = 64 << 20},
      {KEY(web.listen_address), .doc = "HOST:PORT of the HTTP server of serve; port 0: any free port.", .restart = true,
       .check = ListenAddress},
      {KEY(web.token), .doc = "Bearer token of requests that change something.", .is_secret = true, .restart = true},
      {KEY(web.token_file),
       .doc = "File with the bearer token of requests that change something; without a token they are refused.",
       .restart = true},
      {KEY(web.max_requests), .doc = "Maximum number of concurrent HTTP requests.", .restart = true, .min = 1,
       .max = 10'000},
      {KEY(web.allowed_hosts),
       .doc = "Host names by which HTTP requests may call serve, besides addresses and names without a dot.",
       .restart = true},
      {KEY(web.enable_lifecycle), .doc = "Allow POST /-/reload.", .restart = true},
      {KEY(retention.unranked_sweeps),
       .doc = "Complete sweeps for which a model stays published after it left the ranking.", .max = 10'000},
      {KEY(retention.sweeps),
       .doc = "Sweeps whose directories and delivered events are kept; results and captures are always kept.", .min = 1,
       .max = 1'000'000},
      {KEY(retention.age),
       .doc = "Sweeps that ended longer ago lose their directories and delivered events; null: no limit.",
       .min = 60'000, .max = 10 * kYear},
      {KEY(retention.bytes),
       .doc =
           "Size of the directories of all sweeps; the oldest sweeps beyond it lose them, and their delivered events; "
           "null: no limit.",
       .is_size = true, .min = 1 << 20, .max = 1LL << 50},
      {KEY(retention.trend_days),
       .doc = "Days whose trends are kept, one row for each family and reason; counts days with a sweep; 0: all.",
       .max = 100'000},
      {KEY(metrics.extra), .doc = "Further toolchains and modes to publish as breakwatch_breaks: NAME or NAME/MODE.",
       .check = ToolchainMode},
      {KEY(metrics.drop), .doc = "Names of metrics of models that are not published; empty: all are.",
       .check = MetricName},
      {KEY(metrics.phases), .doc = "Publish the duration of captures by phase, four series for each model."},
      {KEY(log.level), .doc = "Lowest level of log messages: debug, info, warn, error.", .restart = true,
       .allowed = {"debug", "info", "warn", "error"}},
      {KEY(log.format), .doc = "Format of log messages: text or json.", .restart = true, .allowed = {"text", "json"}},
  };
}

}  // namespace

std::vector<Key> MakeKeyTable() {
  std::vector<Key> keys{
      {KEY(state_dir),
       .doc = "Directory for everything that breakwatch keeps: store, reports, logs, control socket, scratch.",
       .restart = true, .check = NotEmpty}};
  for (auto part :
       {HubKeys(), ModelsKeys(), CaptureKeys(), MeasureKeys(), SweepKeys(), PushgatewayKeys(), LokiKeys(),
        RemoteWriteKeys(), OtlpKeys(), OtlpSignalKeys(), LocalExporterKeys(), ArtifactKeys(), DaemonKeys()}) {
    keys.insert(keys.end(), part.begin(), part.end());
  }
  return keys;
}

}  // namespace breakwatch::config
