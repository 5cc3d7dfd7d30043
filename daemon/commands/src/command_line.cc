// The command line: one table of settings' flags for all commands, then each command's own.

#include <CLI/CLI.hpp>
#include <deque>
#include <system_error>
#include <utility>

#include "breakwatch/config/keys.h"
#include "breakwatch/core/threads.h"
#include "commands.h"
#include "signals.h"
#include "usage_errors.h"

namespace breakwatch::commands {
namespace {

constexpr const char* kFooter = R"(Examples:
  breakwatch sweep --hub.source snapshot          sweep the bundled snapshot's top 30
  breakwatch sweep --top 100 --track              the Hub's 100 most downloaded models
  breakwatch sweep --model org/name@main          one model, by name
  breakwatch discover train.py                    the modules that a script of yours calls
  breakwatch show org/name                        where it breaks, and why
  breakwatch reasons --by leverage                which fix makes most models whole
  breakwatch compare previous latest              what the last sweep changed, site by site
  breakwatch import DIR --model org/name --commit SHA  what a real job's TORCH_TRACE says
  breakwatch bisect org/name --from old           did torch, transformers or the commit move it?
  breakwatch serve --sweep.interval 24h           the daemon
Every setting is a flag (--exporters.pushgateway.url), an environment variable
(BREAKWATCH_EXPORTERS_PUSHGATEWAY_URL) and a key of the YAML file (--config.file):
`breakwatch config explain` lists them all.
Exit codes: 0 fine, 1 failure, 2 regressions, 3 incomplete, 64 usage, 69 Hub unavailable, 74 store or disk,
78 configuration, 130 interrupted.)";

// What the command line asks for: exactly one command, run once the settings are loaded.
struct CommandLine {
  CLI::App cli{"Where torch.compile breaks: on which model, for which reason, since which commit."};
  config::Sources sources;
  std::deque<std::pair<std::string, std::string>> switches;  // boolean settings by key: text, empty when not given
  bool json = false;
  bool blocks_signals = false;
  const CLI::App* config_check = nullptr;
  std::function<int(App&)> run;
};

void AddSettings(CommandLine& line) {
  // One value at a time: what follows may be a command's own argument.
  line.cli.add_option("--config.file", line.sources.files, "Settings file (YAML); repeats, later wins")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  line.cli.add_flag("--json", line.json, "JSON on standard output");
  for (const config::Flag& flag : config::Flags()) {
    std::string names;
    for (const std::string& name : flag.names) names += (names.empty() ? "" : ",") + name;
    const auto take = [&line, key = flag.key](const std::vector<std::string>& values) {
      line.sources.flags.emplace_back(key, values);
      return true;
    };
    CLI::Option* option = nullptr;
    if (flag.is_bool) {
      // Alone it means true; "--key=false" is also taken.
      line.switches.push_back({flag.key, ""});
      option = line.cli.add_flag(names, line.switches.back().second, flag.doc)->take_last();
    } else {
      option = line.cli.add_option(names, CLI::callback_t(take), flag.doc);
      option->type_name(flag.type);
      // A list repeats; of anything else the last one counts.
      option->expected(1)->allow_extra_args(false);
      flag.is_list ? option->take_all() : option->take_last();
    }
    option->group("");  // 80 of them: `config explain` lists them
  }
}

CLI::App* AddNested(CommandLine& line, CLI::App* parent, const std::string& name, const std::string& doc,
                    std::function<int(App&)> run, bool blocks_signals = false) {
  CLI::App* command = parent->add_subcommand(name, doc);
  command->fallthrough();
  command->callback([&line, run = std::move(run), blocks_signals] {
    line.run = run;
    line.blocks_signals = blocks_signals;
  });
  return command;
}

CLI::App* AddCommand(CommandLine& line, const std::string& name, const std::string& doc, std::function<int(App&)> run,
                     bool blocks_signals = false) {
  return AddNested(line, &line.cli, name, doc, std::move(run), blocks_signals);
}

// Shorter names of settings that people type often.
void AddShort(CLI::App* command, CommandLine& line, const std::string& name, const std::string& key,
              const std::string& doc) {
  command
      ->add_option_function<std::string>(
          name,
          [&line, key](const std::string& text) {
            line.sources.flags.emplace_back(key, std::vector<std::string>{text});
          },
          doc)
      ->take_last();
}

void AddAllowFactories(CLI::App* command, CommandLine& line) {
  command->add_flag_callback(
      "--allow-factories",
      [&line] { line.sources.flags.emplace_back("capture.allow_factories", std::vector<std::string>{"true"}); },
      "Let workers run code of your own: python: and script: models (capture.allow_factories)");
}

void AddSweepOptions(CLI::App* command, CommandLine& line, const std::shared_ptr<SweepOptions>& o) {
  command
      ->add_option("--model", o->models,
                   "A model by name: id, id@revision, python:package.module:function or script:FILE[::HASH]; repeats; "
                   "instead of the ranking")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--plan", o->plan_file, "Rerun the models of a saved plan.json");
  command->add_option("--toolchain", o->toolchain,
                      "By this toolchain alone; what is published stays the primary one's");
  command->add_flag("--track", o->track, "Keep these models in the tracked set for good");
  AddAllowFactories(command, line);
  AddShort(command, line, "--modes", "capture.modes",
           "Modes to run each model in, with commas: eval is the steady state, cold the first call (capture.modes)");
  AddShort(command, line, "--top", "hub.top", "Models by rank (hub.top)");
  AddShort(command, line, "--rebuild", "sweep.rebuild", "if-needed, always or never (sweep.rebuild)");
}

void AddSweeps(CommandLine& line) {
  auto o = std::make_shared<SweepOptions>();
  auto* sweep = AddCommand(
      line, "sweep", "Capture what is new, store it, publish it, print it", [o](App& app) { return RunSweep(app, *o); },
      true);
  AddSweepOptions(sweep, line, o);
  sweep->add_flag("--resume", o->resume, "Continue the newest unfinished sweep");
  sweep->add_flag("--local-gateway", o->local_gateway,
                  "Without a configured Pushgateway, use or start one on loopback");
  sweep->add_flag("--quiet", o->quiet, "No progress on standard error");

  auto p = std::make_shared<SweepOptions>();
  auto* plan = AddCommand(
      line, "plan", "What a sweep would do, model by model, and why", [p](App& app) { return RunPlan(app, *p); }, true);
  AddSweepOptions(plan, line, p);
  plan->add_option("--output", p->output, "Also write the plan as JSON, for `sweep --plan`");

  auto s = std::make_shared<ServeOptions>();
  auto* serve = AddCommand(
      line, "serve", "The daemon: sweeps at an interval, on SIGUSR1 and by request",
      [s](App& app) { return RunServe(app, *s); }, true);
  AddAllowFactories(serve, line);
  AddShort(serve, line, "--top", "hub.top", "Models by rank (hub.top)");
  serve->add_flag("--local-gateway", s->local_gateway,
                  "Without a configured Pushgateway, use or start one on loopback");
}

constexpr const char* kImportFooter = R"(Examples:
  TORCH_TRACE=/tmp/trace python train.py                          the job writes its trace
  breakwatch import /tmp/trace --model acme/net --commit 3f9a1c2   store what it says
  breakwatch show acme/net                                         where it broke, and why
Of several ranks the lowest one's numbers are shown; where others differ, the result says how.)";

void AddImport(CommandLine& line) {
  auto o = std::make_shared<ImportOptions>();
  auto* import = AddCommand(
      line, "import", "Store what the TORCH_TRACE of a real job says of its breaks",
      [o](App& app) { return RunImport(app, *o); }, true);
  import->add_option("path", o->path, "The job's TORCH_TRACE directory, or one file of it")->required();
  import->add_option("--model", o->model, "The model's name: what results and metrics call it")->required();
  import->add_option("--commit", o->commit, "The commit of the model's code that ran")->required();
  import->add_option("--family", o->family, "Its family: nlp, vision, audio, ...");
  import->add_flag("--track", o->track,
                   "Keep the model in the tracked set; its numbers are published where metrics.extra names import");
  import->add_flag("--quiet", o->quiet, "No progress on standard error");
  import->footer(kImportFooter);
}

void AddReads(CommandLine& line) {
  auto show = std::make_shared<ShowOptions>();
  auto* command = AddCommand(line, "show", "One model: status, numbers, break sites, inputs",
                             [show](App& app) { return RunShow(app, *show); });
  command->add_option("model", show->model, "Its id, or a part that only one model has")->required();
  command->add_option("--sweep", show->sweep, "Of this sweep instead of the newest result");
  command->add_option("--mode", show->mode, "Of this mode or call variant; eval where there is one");
  command->add_option("--toolchain", show->toolchain, "By the toolchain of this name; the primary one first");
  command->add_option("--format", show->format, "text, md, csv (a row per break site) or json")->capture_default_str();
  command->footer(R"(Examples:
  breakwatch show org/name                     graphs, break sites, inputs, versions
  breakwatch show name --mode train            what another mode found
  breakwatch show name --mode eval+minimal     called with the required arguments alone (capture.calls)
  breakwatch show name --toolchain old         by another toolchain
  breakwatch show name --json | jq .segments   every graph, every field)");

  auto reasons = std::make_shared<ReasonsOptions>();
  command = AddCommand(line, "reasons", "Why graphs break, most frequent first",
                       [reasons](App& app) { return RunReasons(app, *reasons); });
  command->add_option("--by", reasons->by, "events, sites, models or leverage")->capture_default_str();
  command->add_option("--limit", reasons->limit, "At most so many; 0: all");
  command->add_option("--sweep", reasons->sweep, "Sweep id")->capture_default_str();
  command->add_option("--mode", reasons->mode, "In this mode instead of eval");

  auto report = std::make_shared<ReportOptions>();
  command = AddCommand(line, "report", "A sweep as a document", [report](App& app) { return RunReport(app, *report); });
  command->add_option("--sweep", report->sweep, "Sweep id")->capture_default_str();
  command->add_option("--format", report->format, "text, md, csv or json")->capture_default_str();
  command->add_option("--output", report->output, "File to write instead of standard output");
  command->add_flag("--list", report->list, "The sweeps there are");
}

void AddCompare(CommandLine& line) {
  auto o = std::make_shared<CompareOptions>();
  auto* compare = AddCommand(line, "compare", "Two sets of results, model by model and site by site",
                             [o](App& app) { return RunCompare(app, *o); });
  compare->add_option("a", o->a, "What was: a sweep's id, latest, previous, toolchain:NAME or MODEL@COMMIT")
      ->required();
  compare->add_option("b", o->b, "What is, in the same words")->required();
  compare->add_option("--mode", o->mode, "Results of this mode; eval where there are any");
  compare->add_option("--fail-on", o->fail_on, "worse: exit 2 when a model got worse")->check(CLI::IsMember({"worse"}));
  compare->add_flag("--all", o->all, "List also the models that stayed as they were");
  compare->add_option("--format", o->format, "text, md, csv (a row per model) or json")->capture_default_str();
  compare->add_option("--output", o->output, "File to write instead of standard output");
  compare->footer(R"(Examples:
  breakwatch compare previous latest                        what the last sweep changed
  breakwatch compare previous latest --fail-on worse        a gate: exit 2 when a model got worse
  breakwatch compare toolchain:old toolchain:default        the newest results by each toolchain
  breakwatch compare org/name@1a2b3c4 org/name@5d6e7f8      one model at two commits
"previous" is the newest finished sweep before the latest one from the same source, by the same toolchain and with half
of its models at least. Breaks are compared also where versions, modes, depths or inputs differ, and it is said that
they do. A model that had numbers and now fails, runs out of time or crashes is worse.)");
}

void AddDiscover(CommandLine& line) {
  auto discover = std::make_shared<DiscoverRequest>();
  auto* command = AddCommand(line, "discover", "Run a script and list the modules it calls, to capture them",
                             [discover](App& app) { return RunDiscover(app, *discover); });
  command->add_option("script", discover->script, "The script; it runs in a worker, in the sandbox")->required();
  command->add_option("arguments", discover->arguments, "After --: the script's own");
  command->add_option("--max-depth", discover->max_depth, "Also modules that modules call, so many levels down")
      ->check(CLI::Range(0, 100));
  command->add_option("--timeout", discover->timeout_s, "Seconds the script may take")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  command->footer(R"(Examples:
  breakwatch discover train.py
  breakwatch discover train.py --max-depth 1 -- --epochs 1
  breakwatch sweep --allow-factories --model script:train.py::6f0c1d2e3a4b
  breakwatch sweep --allow-factories --model 'script:train.py -- --epochs 1')");
}

void AddBisect(CommandLine& line) {
  auto o = std::make_shared<BisectOptions>();
  auto* bisect = AddCommand(
      line, "bisect", "Which of torch, transformers and the model's commit moved a model's breaks",
      [o](App& app) { return RunBisect(app, *o); }, true);
  bisect->add_option("model", o->model, "Its id, or a part that only one model has")->required();
  bisect->add_option("--from", o->from,
                     "The old state: TOOLCHAIN, COMMIT or TOOLCHAIN@COMMIT; none: the newest that broke otherwise");
  bisect->add_option("--to", o->to, "The new state; none: the primary toolchain at the newest commit");
  bisect->add_option("--mode", o->mode, "Results of this mode")->capture_default_str();
  bisect->add_option("--format", o->format, "text, md, csv (a row per corner) or json")->capture_default_str();
  bisect->add_option("--output", o->output, "File to write instead of standard output");
  bisect->add_flag("--quiet", o->quiet, "No progress on standard error");
  bisect->footer(R"(Examples:
  breakwatch bisect org/name                        since the newest stored state that broke otherwise
  breakwatch bisect org/name --from old             toolchain "old" against the primary one, at one commit
  breakwatch bisect org/name --from old@1a2b3c4     toolchain and commit, against what is new now
  breakwatch bisect org/name --from 1a2b3c4         two commits by one toolchain
Every corner between the two states is captured that is not stored already: the old torch with the new transformers,
the old commit with both, and so on. An environment that mixes two is made of links in STATE/toolchains; nothing is
installed. Exit code 3 when too few corners could be captured to say.)");
}

CLI::App* AddParent(CommandLine& line, const std::string& name, const std::string& doc) {
  CLI::App* parent = line.cli.add_subcommand(name, doc);
  parent->require_subcommand(1);
  parent->fallthrough();
  return parent;
}

void AddUpkeep(CommandLine& line) {
  CLI::App* store = AddParent(line, "store", "The store: info, check, finish, rebuild, repair");
  AddNested(line, store, "info", "Where it is and what it holds", RunStoreInfo);
  AddNested(line, store, "check", "Read every document and name what is damaged: table, row and model", RunStoreCheck);
  AddNested(line, store, "finish", "Write the reports of sweeps that ended without one", RunStoreFinish);
  AddNested(line, store, "rebuild", "Fold the current state again from history", RunStoreRebuild);
  AddNested(line, store, "repair", "Copy what is whole into a new database, and set the damaged one aside",
            RunStoreRepair);

  CLI::App* config = AddParent(line, "config", "The settings: show, check, explain, example");
  AddNested(line, config, "show", "Every setting, its value and where it came from", RunConfigShow);
  line.config_check =
      AddNested(line, config, "check", "Load the settings and say whether they are good", RunConfigCheck);
  auto key = std::make_shared<std::string>();
  auto* explain = AddNested(line, config, "explain", "What a setting means",
                            [key](App& app) { return RunConfigExplain(app, *key); });
  explain->add_option("key", *key, "A key or the beginning of one; none: all");
  AddNested(line, config, "example", "A settings file with every default", RunConfigExample);

  CLI::App* hub = AddParent(line, "hub", "A Hub on disk: record one, serve one");
  auto record = std::make_shared<HubRecordOptions>();
  auto* command = AddNested(line, hub, "record", "Fetch a listing and its configs into a directory",
                            [record](App& app) { return app.hub_record(app, *record); });
  command->add_option("dir", record->dir, "Directory to make")->required();
  command->add_option("--model", record->models, "These models instead of the listing")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--note", record->note, "Kept in recording.json");
  AddShort(command, line, "--top", "hub.top", "Models by rank (hub.top)");
  auto serve = std::make_shared<HubServeOptions>();
  command = AddNested(line, hub, "serve", "Answer as the Hub would, on loopback; set HF_ENDPOINT to its address",
                      [serve](App& app) { return app.hub_serve(app, *serve); });
  command->add_option("dir", serve->dir, "A recording")->required();
  command->add_option("--host", serve->host, "Address to listen on")->capture_default_str();
  command->add_option("--port", serve->port, "Port; 0: any free one")->capture_default_str();
  command->add_flag("--link-to-self", serve->link_to_self, "Name the asked host in Link, not the Hub");

  AddCommand(line, "doctor", "Check what a sweep needs, each with its mend", RunDoctor);
  AddCommand(line, "version", "The version", RunVersion);
}

CLI::App* AddLetters(CommandLine& line, CLI::App* parent, const char* name, const char* doc,
                     int (*run)(App&, const DeadLetterOptions&), bool selects, bool blocks_signals = false) {
  auto o = std::make_shared<DeadLetterOptions>();
  auto* command = AddNested(
      line, parent, name, doc, [o, run](App& app) { return run(app, *o); }, blocks_signals);
  command->add_option("--exporter", o->exporter, "Of this exporter: loki, file, ...; any where none is named");
  if (!selects) {
    command->add_option("--limit", o->limit, "At most so many")->check(CLI::Range(1, 100'000))->capture_default_str();
    return command;
  }
  command->add_option("events", o->ids, "Ids of events")->check(CLI::PositiveNumber);
  command->add_flag("--all", o->all, "All of them");
  return command;
}

void AddDelivery(CommandLine& line) {
  CLI::App* events = AddParent(line, "events", "The event log: status");
  AddNested(line, events, "status", "What each exporter has still to send, and what its target refused",
            RunEventsStatus);

  CLI::App* letters = AddParent(line, "dead-letters", "Events that a target refused: list, show, retry, drop");
  AddLetters(line, letters, "list", "Which events were refused, by whom and why", RunDeadLettersList, false);
  AddLetters(line, letters, "show", "An event, and the answer to it", RunDeadLettersShow, true);
  AddLetters(line, letters, "retry", "Send them again, in order and with their ids", RunDeadLettersRetry, true, true);
  AddLetters(line, letters, "drop", "Remove them for good", RunDeadLettersDrop, true);
  letters->footer(R"(Examples:
  breakwatch dead-letters list --exporter loki
  breakwatch dead-letters show 4711
  breakwatch dead-letters retry 4711 4712        once what the target said of them is put right
  breakwatch dead-letters retry --all
  breakwatch dead-letters drop --exporter loki --all
Beside a daemon, `retry` queues them and the daemon sends them within seconds. Otherwise they are sent at once, within
delivery.drain_timeout; exit code 3 when not all were accepted.)");
}

int Run(App& app, int argc, char** argv) {
  CommandLine line;
  line.cli.footer(kFooter);
  line.cli.require_subcommand(1);
  line.cli.set_version_flag("--version", "breakwatch " + app.version);
  AddSettings(line);
  AddSweeps(line);
  AddImport(line);
  AddReads(line);
  AddCompare(line);
  AddDiscover(line);
  AddBisect(line);
  AddDelivery(line);
  AddUpkeep(line);
  try {
    line.cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportParse(app, line.cli, error);
  }
  for (const auto& [key, text] : line.switches) {
    if (!text.empty()) line.sources.flags.emplace_back(key, std::vector<std::string>{text});
  }
  app.json = line.json;
  app.sources = std::move(line.sources);
  app.sources.environment = config::ProcessEnvironment();
  auto loaded = config::Load(app.sources);
  if (!loaded) return Fail(app, loaded.error());
  app.loaded = std::move(*loaded);
  if (!line.config_check->parsed()) {  // which prints them itself
    for (const std::string& warning : app.loaded.warnings) app.log(Level::kWarn, warning);
  }
  if (line.blocks_signals) BlockSignals();
  try {
    return line.run(app);
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    return Fail(app, CannotStartThread("a", error));
  }
}

}  // namespace

int Main(App& app, int argc, char** argv) {
  ReserveStandardDescriptors();
  IgnoreFileSizeSignal();
  const int code = Run(app, argc, argv);
  return CodeWithOutput(app, code);
}

}  // namespace breakwatch::commands
