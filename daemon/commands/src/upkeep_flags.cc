// The flags of the commands for the store, the settings, recordings of the Hub and the delivery.
#include "command_line.h"

namespace breakwatch::commands {
namespace {

void AddExport(CommandLine& line, CLI::App* store) {
  auto o = std::make_shared<TrendsOptions>();
  auto* command = AddNested(line, store, "export", "Write the trends of all days for Prometheus",
                            [o](App& app) { return RunStoreExport(app, *o); });
  command->add_option("--format", o->format, "openmetrics: for `promtool tsdb create-blocks-from openmetrics`")
      ->required()
      ->check(CLI::IsMember({"openmetrics"}));
  AddDays(command, *o);
  command->add_option("--output", o->output, "Write to this file instead of standard output");
}

void AddStore(CommandLine& line) {
  CLI::App* store = AddParent(line, "store", "Inspect, repair and export the store");
  AddNested(line, store, "info", "Print the location of the store and what it contains", RunStoreInfo);
  AddNested(line, store, "check", "Read every row and list the damaged ones: table, row and model", RunStoreCheck);
  AddNested(line, store, "finish", "Write the reports of sweeps that ended without one", RunStoreFinish);
  AddNested(line, store, "rebuild", "Compute the current state and the trends again from the stored results",
            RunStoreRebuild);
  AddNested(line, store, "repair", "Copy everything undamaged into a new database and keep the damaged one beside it",
            RunStoreRepair);
  AddExport(line, store);
}

void AddConfig(CommandLine& line) {
  CLI::App* config = AddParent(line, "config", "Show, check and explain the settings");
  AddNested(line, config, "show", "Print every setting, its value and where it came from", RunConfigShow);
  line.config_check = AddNested(line, config, "check", "Load the settings and report problems", RunConfigCheck);
  auto key = std::make_shared<std::string>();
  auto* explain =
      AddNested(line, config, "explain", "Print meaning, type, default, environment variable and flag of settings",
                [key](App& app) { return RunConfigExplain(app, *key); });
  explain->add_option("key", *key, "Key or section; default: all");
  AddNested(line, config, "example", "Print a settings file with every default", RunConfigExample);
}

void AddHub(CommandLine& line) {
  CLI::App* hub = AddParent(line, "hub", "Record and serve a copy of the Hub");
  auto record = std::make_shared<HubRecordOptions>();
  auto* command = AddNested(line, hub, "record", "Fetch a listing and its configs into a directory",
                            [record](App& app) { return app.hub_record(app, *record); });
  command->add_option("dir", record->dir, "Directory to create")->required();
  command->add_option("--model", record->models, "Record this model instead of the listing; can be repeated")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--note", record->note, "Note for recording.json");
  AddShort(command, line, "--top", "hub.top", "Number of models, best rank first (hub.top)");
  auto serve = std::make_shared<HubServeOptions>();
  command = AddNested(line, hub, "serve", "Serve a recording like the Hub; set HF_ENDPOINT to its address",
                      [serve](App& app) { return app.hub_serve(app, *serve); });
  command->add_option("dir", serve->dir, "Directory of a recording")->required();
  command->add_option("--host", serve->host, "Address to listen on")->capture_default_str();
  command->add_option("--port", serve->port, "Port to listen on; 0: any free port")->capture_default_str();
  command->add_flag("--link-to-self", serve->link_to_self,
                    "Use the requested host in Link headers instead of the Hub's");
}

CLI::App* AddLetters(CommandLine& line, CLI::App* parent, const char* name, const char* doc,
                     int (*run)(App&, const DeadLetterOptions&), bool selects, bool blocks_signals = false) {
  auto o = std::make_shared<DeadLetterOptions>();
  auto* command = AddNested(
      line, parent, name, doc, [o, run](App& app) { return run(app, *o); }, blocks_signals);
  command->add_option("--exporter", o->exporter, "Only events of this exporter: loki, file, ...");
  if (!selects) {
    command->add_option("--limit", o->limit, "Print at most this many")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    return command;
  }
  command->add_option("events", o->ids, "Event ids")->check(CLI::PositiveNumber);
  command->add_flag("--all", o->all, "Select all refused events");
  if (std::string_view(name) == "export")
    command->add_option("-o,--output", o->output, "File to write; standard output by default");
  return command;
}

void AddDelivery(CommandLine& line) {
  CLI::App* events = AddParent(line, "events", "Show the delivery of events");
  AddNested(line, events, "status",
            "List for each exporter the events that it has not sent yet, and those that its target refused",
            RunEventsStatus);

  CLI::App* letters =
      AddParent(line, "dead-letters", "List, show, retry, drop and export events that a target refused");
  AddLetters(line, letters, "list", "List the refused events and the responses to them", RunDeadLettersList, false);
  AddLetters(line, letters, "show", "Show events and the responses to them", RunDeadLettersShow, true);
  AddLetters(line, letters, "retry", "Send events again, in order and with their ids", RunDeadLettersRetry, true, true);
  AddLetters(line, letters, "drop", "Remove events permanently", RunDeadLettersDrop, true);
  AddLetters(line, letters, "export", "Write events and the responses to them as JSON lines", RunDeadLettersExport,
             true);
}

void AddSetup(CommandLine& line) {
  auto o = std::make_shared<SetupOptions>();
  SetupRequest& request = o->request;
  auto* command = AddCommand(
      line, "setup", "Make the toolchain that captures run in: a Python environment with torch and transformers",
      [o](App& app) { return RunSetup(app, *o); }, true);
  command->add_option("--name", request.name, "Name of the toolchain; default: default, or the versions");
  command->add_option("--torch-index", request.torch_index,
                      "Take torch from the package index at this URL, without hashes; a CPU-only one saves 4 GB");
  command->add_option("--torch", request.torch, "Install this version of torch instead of the lock file's");
  command->add_option("--transformers", request.transformers, "Install this version of transformers, with --torch");
  command
      ->add_option("--package", request.packages,
                   "Install this package too, with --torch; can be repeated; default: torchvision timm scipy pyyaml")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--python", request.python, "Interpreter; default: /usr/bin/python3, else the one on PATH");
  command->add_option("--dir", request.dir, "Make it at this path; then name its bin/python in capture.toolchains");
  command
      ->add_option("--min-free", request.min_free,
                   "Begin only with this much free space, such as 6GiB; default: 10GiB, with --torch-index 3GiB")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false));
  command->add_flag("--keep-old", request.keep_old, "Keep the environment that the new one replaces");
  command->add_flag("--dry-run", o->dry_run, "Print the path, the packages and the space, and do nothing");
  command->add_flag("--quiet", o->quiet, "Print no progress");
}

}  // namespace

void AddUpkeep(CommandLine& line) {
  AddDelivery(line);
  AddStore(line);
  AddConfig(line);
  AddHub(line);
  AddSetup(line);
  AddCommand(line, "doctor", "Check what a sweep needs, and print a fix for each problem", RunDoctor);
  AddCommand(line, "version", "Print the version", RunVersion);
}

}  // namespace breakwatch::commands
