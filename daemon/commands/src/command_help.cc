// The help of all commands but `breakwatch artifact`.
#include "breakwatch/commands/app.h"
#include "help.h"

namespace breakwatch::commands {
namespace {

// The exit codes of commands, grouped by what the commands use.
const std::vector<int> kPrints = {kExitOk, kExitUsage, kExitStore, kExitConfig};
const std::vector<int> kReads = {kExitOk, kExitFailure, kExitUsage, kExitStore, kExitConfig};
const std::vector<int> kFetches = {kExitOk, kExitFailure, kExitUsage, kExitUnavailable, kExitStore, kExitConfig};
const std::vector<int> kSweeps = {kExitOk,          kExitFailure, kExitIncomplete, kExitUsage,
                                  kExitUnavailable, kExitStore,   kExitConfig,     kExitInterrupted};

const std::vector<int> kGatedSweeps = {kExitOk,          kExitFailure, kExitRegressions, kExitIncomplete, kExitUsage,
                                       kExitUnavailable, kExitStore,   kExitConfig,      kExitInterrupted};

}  // namespace

std::vector<CommandHelp> SweepHelp() {
  return {
      {.name = "sweep",
       .settings = {"hub.source", "hub.top", "hub.sort", "hub.per_family", "capture.modes", "capture.calls",
                    "capture.limits.capture", "capture.limits.rss_bytes", "capture.sandbox", "capture.extra_toolchains",
                    "sweep.rebuild", "exporters.pushgateway.url", "exporters.remote_write.url", "exporters.loki.url",
                    "delivery.drain_timeout"},
       .examples = {{"sweep --hub.source snapshot", "sweep the top 30 of the bundled model list"},
                    {"sweep --top 100 --track", "sweep and track the Hub's 100 most downloaded models"},
                    {"sweep --model org/name@main --modes eval,train", "sweep one model in two modes"},
                    {"sweep --model 'family:audio or org/*'", "sweep a part of the ranking"},
                    {"sweep --gate breakwatch-baseline.tsv",
                     "exit with code 2 if a result is worse than the baseline"}},
       .exit_codes = kGatedSweeps,
       .filters = true},
      {.name = "plan",
       .settings = {"hub.source", "hub.top", "hub.sort", "hub.per_family", "capture.modes", "capture.calls",
                    "sweep.rebuild", "sweep.quarantine_after", "sweep.quarantine_for"},
       .examples = {{"plan --top 100", "list what a sweep would capture, share, reuse and skip"},
                    {"plan --output plan.json", "save the plan; `breakwatch sweep --plan plan.json` sweeps it"}},
       .exit_codes = kSweeps,
       .filters = true},
      {.name = "serve",
       .settings = {"sweep.interval", "hub.source", "hub.top", "capture.extra_toolchains", "metrics.extra",
                    "web.listen_address", "web.token_file", "web.enable_lifecycle", "exporters.pushgateway.url",
                    "exporters.remote_write.url", "exporters.loki.url", "retention.sweeps"},
       .examples = {{"serve --sweep.interval 24h", "sweep once a day"},
                    {"serve --config.file site.yaml", "read the settings from a file; SIGHUP reads it again"},
                    {"serve --web.listen_address 127.0.0.1:0", "use any free port; the log has the address"}},
       .exit_codes = {kExitOk, kExitFailure, kExitUsage, kExitUnavailable, kExitStore, kExitConfig, kExitInterrupted}},
      {.name = "page",
       .settings = {"web.listen_address", "web.allowed_hosts", "web.max_requests", "state_dir", "store.url"},
       .examples = {{"page", "serve the page on 127.0.0.1:9723 until Ctrl-C"},
                    {"page --listen 127.0.0.1:0", "use any free port; the output has the address"},
                    {"page --state-dir /srv/breakwatch", "show another state directory"}},
       .exit_codes = {kExitOk, kExitFailure, kExitUsage, kExitUnavailable, kExitStore, kExitConfig}},
      {.name = "bisect",
       .settings = {"capture.toolchain", "capture.toolchains", "capture.limits.capture", "capture.limits.rss_bytes",
                    "exporters.pushgateway.url", "exporters.remote_write.url", "exporters.loki.url"},
       .examples = {{"bisect org/name", "compare with the newest stored state that breaks differently"},
                    {"bisect org/name --from old", "compare toolchain \"old\" with the primary one"},
                    {"bisect org/name --from old@1a2b3c4", "compare toolchain and commit with the new state"},
                    {"bisect org/name --from 1a2b3c4", "compare two commits with one toolchain"}},
       .exit_codes = kSweeps,
       .note = "Captures the missing combinations: the old torch with the new transformers, and so on. A combined\n"
               "environment consists of symbolic links in <state_dir>/toolchains; nothing is installed. Exit code 3: "
               "too few\n"
               "combinations could be captured.\n"},
      {.name = "profile",
       .settings = {"measure.backends", "measure.batches", "measure.threads", "measure.min_runs", "measure.min_time",
                    "measure.timeout", "measure.prices_file", "measure.lock_file", "capture.limits.rss_bytes",
                    "capture.sandbox", "sweep.rebuild"},
       .examples = {{"profile org/name", "measure each graph and the Python code between graphs"},
                    {"profile org/name --batch 1,8 --threads 4", "measure two batch sizes with four threads"},
                    {"profile org/name --full --dtype bfloat16", "measure the configuration as published"},
                    {"profile org/name --prices config/prices.example.yaml", "add the cost of a million requests"},
                    {"profile --list-backends", "list the backends"}},
       .exit_codes = kSweeps,
       .filters = true,
       .note = "A measurement runs alone: other captures on this machine wait for it, and it waits for them. Without\n"
               "--full the model has reduced sizes. \"no difference\": the difference is smaller than its 95 % "
               "interval.\n"},
      {.name = "bench",
       .settings = {"measure.backends", "measure.batches", "measure.threads", "measure.min_runs", "measure.min_time",
                    "measure.timeout", "measure.lock_file", "capture.limits.rss_bytes", "capture.sandbox",
                    "sweep.rebuild"},
       .examples = {{"bench org/name --backends eager,inductor", "measure a model with two backends"},
                    {"bench 'family:nlp' --top 10 --hub.source snapshot", "measure a part of the ranking"},
                    {"bench @models.txt --format csv --output bench.csv", "write a table with fixed columns"},
                    {"compare ID ID", "compare the sweeps of two benchmarks"}},
       .exit_codes = kSweeps,
       .filters = true},
      {.name = "fix",
       .settings = {"capture.fix_budget", "capture.fix_attempt", "capture.toolchain", "capture.limits.rss_bytes",
                    "capture.sandbox", "sweep.rebuild"},
       .examples = {{"fix org/name", "try every fix that applies, alone and combined"},
                    {"fix org/name --fix capture_scalar_outputs,no_cache --alone", "try two fixes, each alone"},
                    {"fix 'status:graph_breaks' --top 100", "try the fixes on a part of the ranking"},
                    {"fix org/name --json", "all attempts, with the Python code of each"}},
       .exit_codes = kSweeps,
       .filters = true,
       .note = "A fix is a change that you can make: a setting of Dynamo, an argument of the model or of the call. "
               "Each is\n"
               "tried in a capture of its own, and its outputs are compared with those of the model without it.\n"},
      {.name = "repro",
       .settings = {"capture.toolchain", "capture.limits.rss_bytes", "capture.sandbox", "sweep.rebuild"},
       .examples = {{"repro org/name --output repro.py", "write the file; run it with `python repro.py`"},
                    {"repro org/name --site 3f2a9c1e --minimal", "show one site with as little code as it needs"},
                    {"repro org/name --toolchain older", "show what another toolchain finds"},
                    {"repro org/name --trace", "leave a folder with the capture's files and a TORCH_TRACE directory"},
                    {"repro org/name --json", "the file and whether it found the same in another process"}},
       .exit_codes = kSweeps,
       .filters = true,
       .note =
           "The file has the model's configuration as captured, the arguments of the call, and an assertion on the "
           "number of\nbreaks at each line. It was run once in a new process before it is given.\n\n"
           "--minimal tries smaller widths, one layer, a module of the model alone, fewer and smaller arguments and "
           "fewer\nconfiguration values, each in a capture. Without --site, it keeps the site that breaks most "
           "often. If it cannot\nreduce the model, it writes the whole file and reports why.\n\n"
           "--keep and --trace capture the model once more, as a sweep does, in a new folder below the state "
           "directory, and\nprint what is in it and the command that repeats the capture. Remove the folder when it is "
           "no longer needed.\n"},
      {.name = "import",
       .settings = {"metrics.extra", "exporters.pushgateway.url", "exporters.remote_write.url", "exporters.loki.url",
                    "store.url"},
       .examples = {{"TORCH_TRACE=/tmp/trace python train.py", "write the trace of a job"},
                    {"import /tmp/trace --model acme/net --commit 3f9a1c2", "store its breaks"},
                    {"breakwatch show acme/net", "show them"}},
       .exit_codes = {kExitOk, kExitFailure, kExitIncomplete, kExitUsage, kExitStore, kExitConfig, kExitInterrupted},
       .note = "If the job had several ranks, the numbers of the lowest rank are stored; the result lists the ranks "
               "that differ.\n"},
      {.name = "discover",
       .settings = {"capture.worker", "capture.sandbox", "capture.environment", "capture.scratch_bytes"},
       .examples = {{"discover train.py", "list the outermost modules that the script calls"},
                    {"discover train.py --max-depth 1 -- --epochs 1", "also list the modules that those call"},
                    {"breakwatch sweep --allow-factories --model script:train.py::6f0c1d2e3a4b",
                     "capture one of them"}},
       .exit_codes = {kExitOk, kExitFailure, kExitUsage, kExitUnavailable, kExitStore, kExitConfig, kExitInterrupted}},
  };
}

std::vector<CommandHelp> ReadHelp() {
  return {
      {.name = "show",
       .settings = {"state_dir", "store.url", "capture.toolchain"},
       .examples = {{"show org/name", "show graphs, break sites, inputs and versions"},
                    {"show name --mode train", "show the result of another mode"},
                    {"show name --mode eval+minimal", "show the call with the required arguments only"},
                    {"show name --stack", "show all calls that lead to each break"},
                    {"show name --json | jq .segments", "print every field of every graph"},
                    {"show name --server http://builder:9723", "ask a daemon on another machine"},
                    {"show --filter 'arch:*ForCausalLM and status:failed'", "list the results of several models"}},
       .exit_codes = kFetches,
       .filters = true},
      {.name = "reasons",
       .settings = {"state_dir", "store.url"},
       .examples = {{"reasons", "list the reasons of the last sweep, most break events first"},
                    {"reasons --by leverage", "list first the reason whose fix unblocks the most models"},
                    {"reasons --by cost", "list first the reason that costs the most time in profiled models"},
                    {"reasons --sites", "list the lines of code that break graphs, and which few to change first"},
                    {"reasons --sites --by downloads --lines 5", "choose 5 lines that free the most downloads"},
                    {"reasons --mode train --limit 10", "list the ten most frequent reasons of mode train"},
                    {"reasons --filter family:audio", "count the audio models only"}},
       .exit_codes = kFetches,
       .filters = true},
      {.name = "issue",
       .settings = {"state_dir", "store.url"},
       .examples = {{"issue org/name", "report the breaks of a model"},
                    {"issue GB0170 --for torch", "report a reason to PyTorch, with all models that have it"},
                    {"issue 3f2a9c1e --with-repro --output issue.md",
                     "report a line, and make the smallest file that shows the break"},
                    {"issue 3f2a9c1e --repro repro.py", "include a file of your own"}},
       .exit_codes = {kExitOk, kExitFailure, kExitUsage, kExitUnavailable, kExitStore, kExitConfig, kExitInterrupted},
       .note = "Nothing is sent: read the text, and file it yourself. It has the versions, the stack, the models with "
               "their\ndownloads, the oldest stored capture with the break, and what the tried fixes did. A file that "
               "`repro` "
               "stored for\nthe break is included. The text has at most the 65,536 characters that GitHub accepts.\n"},
      {.name = "report",
       .settings = {"state_dir", "store.url"},
       .examples = {{"report --format html --output sweep.html", "write the last sweep as a page"},
                    {"report --format md", "print a summary for a pull request"},
                    {"report --list", "list the stored sweeps"},
                    {"report --filter 'org/* and not status:skipped'", "report a part of the last sweep"},
                    {"report --sweep 20261121T165921Z-0ffa5e --format csv", "print another sweep, a row per model"}},
       .exit_codes = kFetches,
       .filters = true},
      {.name = "trends",
       .settings = {"state_dir", "store.url", "retention.trend_days"},
       .examples = {{"trends --by family --since 2026-03-01", "compare each family's first day with its last"},
                    {"trends --by reason --since 2026-03-01", "list the reasons that most models have now"},
                    {"trends --daily --format csv", "print a row for each day"}},
       .exit_codes = kReads,
       .note =
           "A day (UTC) has the published numbers at the end of its last sweep. FIXED and BROKEN count models that\n"
           "became a full graph, or stopped being one, since the day before; CAME and DEPARTED count models that got\n"
           "or lost numbers. Without --daily these are sums over all days after the first.\n"},
      {.name = "compare",
       .settings = {"state_dir", "store.url", "capture.toolchain"},
       .examples = {{"compare previous latest", "show what the last sweep changed"},
                    {"compare previous latest --fail-on worse", "exit with code 2 if a model got worse"},
                    {"compare --baseline breakwatch-baseline.tsv", "compare a baseline with the last sweep"},
                    {"compare --baseline breakwatch-baseline.tsv --format github", "annotate a GitHub workflow"},
                    {"compare previous latest --filter reason:GB0170",
                     "compare models with this reason on either side"},
                    {"compare toolchain:old toolchain:default", "compare the newest results by two toolchains"},
                    {"compare org/name@1a2b3c4 org/name@5d6e7f8", "compare two commits of one model"}},
       .exit_codes = {kExitOk, kExitFailure, kExitRegressions, kExitUsage, kExitUnavailable, kExitStore, kExitConfig},
       .filters = true,
       .note =
           "\"previous\" is the newest earlier sweep that finished, has the same source and toolchain as the latest\n"
           "one, and contains at least half of its models. Results are compared even if versions, modes, depths or\n"
           "inputs differ; the differences are listed. A model is worse if it has more breaks, break sites,\n"
           "uncompiled frames or recompilations, fewer captured operations, a new break site, or no numbers where\n"
           "it had some before. Without a sweep or baseline to compare with, the verdict is no_baseline and the\n"
           "exit code is 0.\n"},
      {.name = "baseline update",
       .settings = {"state_dir", "store.url"},
       .examples = {{"baseline update", "write breakwatch-baseline.tsv from the last sweep"},
                    {"baseline update ci/models.tsv --sweep 20261121T165921Z-0ffa5e", "write another file"}},
       .exit_codes = kReads,
       .note =
           "The file has one line for each model and mode, sorted: the same results give the same file. A model that\n"
           "was not attempted or lost its worker keeps its old line. A sweep of named models changes only the lines\n"
           "of these models.\n"},
      {.name = "baseline show",
       .settings = {},
       .examples = {{"baseline show", "list breakwatch-baseline.tsv"},
                    {"baseline show ci/models.tsv --json", "print its fields"}},
       .exit_codes = kReads},
      {.name = "baseline diff",
       .settings = {"state_dir", "store.url"},
       .examples = {{"baseline diff", "compare breakwatch-baseline.tsv with the last sweep"}},
       .exit_codes = kReads},
      {.name = "setup",
       .settings = {},
       .examples = {{"setup", "make the default toolchain, from the lock file"},
                    {"setup --dry-run", "print where it would be and how much space it needs"},
                    {"setup --torch-index https://packages.example/cpu", "take torch from an index of CPU-only builds"},
                    {"setup --torch 2.13.0 --transformers 5.8.0 --name older", "make another toolchain"}},
       .exit_codes = {kExitOk, kExitFailure, kExitUsage, kExitUnavailable, kExitStore, kExitConfig, kExitInterrupted},
       .note =
           "As root, toolchains are made in /var/lib/breakwatch-toolchains, for all users; otherwise in\n"
           "~/.local/share/breakwatch/toolchains. Packages are fetched by pip, with its settings (PIP_INDEX_URL,\n"
           "HTTPS_PROXY), and checked against the hashes of the lock file. An interrupted run continues with pip's\n"
           "cache when it is run again. After an upgrade of breakwatch, run it again: it does what is missing.\n"},
      {.name = "doctor",
       .settings = {"state_dir", "store.url", "hub.endpoint", "capture.worker", "capture.toolchain",
                    "capture.toolchains", "capture.sandbox", "exporters.pushgateway.url", "exporters.remote_write.url",
                    "exporters.loki.url"},
       .examples = {{"doctor", "check this machine"},
                    {"doctor --config.file site.yaml", "check with the settings of a daemon"}},
       .exit_codes = kReads,
       .note = "Exit code 1: at least one check failed. Warnings do not change the exit code.\n"},
      {.name = "version", .settings = {}, .examples = {{"version --json", "print it as JSON"}}, .exit_codes = kPrints},
  };
}

std::vector<CommandHelp> StoreHelp() {
  return {
      {.name = "store info",
       .settings = {"state_dir", "store.url"},
       .examples = {{"store info --state-dir /var/lib/breakwatch", "describe the store of a daemon"}},
       .exit_codes = kReads},
      {.name = "store check",
       .settings = {"state_dir", "store.url"},
       .examples = {{"store check", "list damaged rows"}, {"store check --json | jq .damage", "list them as JSON"}},
       .exit_codes = kReads,
       .note = "Exit code 74: the store is damaged.\n"},
      {.name = "store finish",
       .settings = {"state_dir", "store.url", "retention.sweeps"},
       .examples = {{"store finish", "write missing reports"}},
       .exit_codes = kReads},
      {.name = "store rebuild",
       .settings = {"state_dir", "store.url", "retention.unranked_sweeps", "retention.trend_days"},
       .examples = {{"store rebuild", "compute the current state and the trends again"}},
       .exit_codes = kReads},
      {.name = "store export",
       .settings = {"state_dir", "store.url", "exporters.pushgateway.job", "exporters.pushgateway.pool"},
       .examples = {{"store export --format openmetrics --output trends.om", "write the trends of all days"},
                    {"promtool tsdb create-blocks-from openmetrics trends.om data", "load them into Prometheus"}},
       .exit_codes = kReads,
       .note = "Metrics have the names of the recording rules, and the labels job and pool of the settings.\n"},
      {.name = "store repair",
       .settings = {"state_dir", "store.url"},
       .examples = {{"store repair", "replace a damaged SQLite database by a copy of what is undamaged"}},
       .exit_codes = kReads},
      {.name = "events status",
       .settings = {"state_dir", "store.url", "exporters.loki.url", "exporters.file.enabled"},
       .examples = {{"events status", "list pending events by exporter"}},
       .exit_codes = kReads},
      {.name = "dead-letters list",
       .settings = {"state_dir", "store.url"},
       .examples = {{"dead-letters list --exporter loki", "list the events that Loki refused"}},
       .exit_codes = kReads},
      {.name = "dead-letters show",
       .settings = {"state_dir", "store.url"},
       .examples = {{"dead-letters show 4711", "show one event and the response to it"}},
       .exit_codes = kReads},
      {.name = "dead-letters retry",
       .settings = {"state_dir", "store.url", "exporters.loki.url", "delivery.drain_timeout"},
       .examples = {{"dead-letters retry 4711 4712", "send two events again"},
                    {"dead-letters retry --all", "send all of them again"}},
       .exit_codes = {kExitOk, kExitFailure, kExitIncomplete, kExitUsage, kExitStore, kExitConfig, kExitInterrupted},
       .note =
           "If a daemon runs on the store, it sends them within seconds. Otherwise they are sent at once; exit code\n"
           "3: not all were accepted within delivery.drain_timeout.\n"},
      {.name = "dead-letters export",
       .settings = {"state_dir", "store.url"},
       .examples = {{"dead-letters export --all --output refused.jsonl",
                     "save all of them, for example before a drop"}},
       .exit_codes = kReads},
      {.name = "dead-letters drop",
       .settings = {"state_dir", "store.url"},
       .examples = {{"dead-letters drop --exporter loki --all", "remove the events that Loki refused"}},
       .exit_codes = kReads},
  };
}

std::vector<CommandHelp> OtherHelp() {
  return {
      {.name = "config show",
       .settings = {},
       .examples = {{"config show --config.file site.yaml", "print the settings that a daemon would use"}},
       .exit_codes = kPrints},
      {.name = "config check",
       .settings = {},
       .examples = {{"config check --config.file site.yaml", "report problems by line and column"}},
       .exit_codes = kPrints,
       .note = "Exit code 78: the settings are invalid.\n"},
      {.name = "config explain",
       .settings = {},
       .examples = {{"config explain capture.limits", "explain a section"},
                    {"config explain --json", "print all settings as JSON"}},
       .exit_codes = kPrints},
      {.name = "config example",
       .settings = {},
       .examples = {{"config example > breakwatch.yaml", "start a settings file"}},
       .exit_codes = kPrints},
      {.name = "hub record",
       .settings = {"hub.endpoint", "hub.top", "hub.sort", "hub.filters", "hub.concurrency", "hub.timeout"},
       .examples = {{"hub record mirror --top 100", "record the 100 most downloaded models"},
                    {"hub record mirror --model org/name", "record one model"}},
       .exit_codes = kFetches},
      {.name = "hub serve",
       .settings = {},
       .examples = {{"hub serve mirror --port 8080", "serve a recording"},
                    {"HF_ENDPOINT=http://127.0.0.1:8080 breakwatch sweep --top 100", "sweep it"}},
       .exit_codes = kFetches},
  };
}

}  // namespace breakwatch::commands
