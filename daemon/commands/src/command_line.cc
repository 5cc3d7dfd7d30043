// The command line: one table maps settings to flags for all commands; then come the flags of each command.

#include <CLI/CLI.hpp>
#include <deque>
#include <system_error>
#include <utility>

#include "artifact_options.h"
#include "breakwatch/config/keys.h"
#include "breakwatch/core/threads.h"
#include "breakwatch/report/formats.h"
#include "commands.h"
#include "help.h"
#include "signals.h"
#include "usage_errors.h"

namespace breakwatch::commands {
namespace {

constexpr const char* kFooter = R"(Examples:
  breakwatch sweep --top 100             sweep the Hub's 100 most downloaded models
  breakwatch show org/name               show where a model breaks, and why
  breakwatch reasons --by leverage       find the fix that unblocks the most models
  breakwatch compare previous latest     show what the last sweep changed
  breakwatch doctor                      check this machine

`breakwatch COMMAND --help` lists the options, settings, examples and exit codes of a command.
Every setting is a flag (--exporters.pushgateway.url), an environment variable
(BREAKWATCH_EXPORTERS_PUSHGATEWAY_URL) and a key of the YAML file (--config.file):
`breakwatch config explain` lists them.)";

constexpr const char* kOutputDoc =
    "Write to this file instead of standard output; github: the step summary instead of $GITHUB_STEP_SUMMARY";

// Settings that all commands use; `--help` lists their flags.
bool IsCommon(const std::string& key) { return key == "state_dir" || key.starts_with("log."); }

// The parsed command line: exactly one command, which runs after the settings are loaded.
struct CommandLine {
  CLI::App cli{"Find the graph breaks of torch.compile: in which model, for which reason, since which commit."};
  config::Sources sources;
  std::deque<std::pair<std::string, std::string>> switches;  // boolean settings by key; the text is empty if not given
  std::string server;
  bool json = false;
  bool blocks_signals = false;
  const CLI::App* config_check = nullptr;
  std::function<int(App&)> run;
};

void AddSettings(CommandLine& line) {
  // One value per flag: the next word may be an argument of the command.
  line.cli
      .add_option("--config.file", line.sources.files,
                  "Read settings from this YAML file; can be repeated, later files override earlier ones")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  line.cli.add_flag("--json", line.json, "Print JSON");
  for (const config::Flag& flag : config::Flags()) {
    std::string names;
    for (const std::string& name : flag.names) names += (names.empty() ? "" : ",") + name;
    const auto take = [&line, key = flag.key](const std::vector<std::string>& values) {
      line.sources.flags.emplace_back(key, values);
      return true;
    };
    CLI::Option* option = nullptr;
    if (flag.is_bool) {
      // Without a value it means true; "--key=false" is also accepted.
      line.switches.push_back({flag.key, ""});
      option = line.cli.add_flag(names, line.switches.back().second, flag.doc)->take_last();
    } else {
      option = line.cli.add_option(names, CLI::callback_t(take), flag.doc);
      option->type_name(flag.type);
      // A list flag may repeat; of any other flag the last value counts.
      option->expected(1)->allow_extra_args(false);
      flag.is_list ? option->take_all() : option->take_last();
    }
    if (!IsCommon(flag.key)) option->group("");  // 80 flags: `config explain` lists them
  }
}

CLI::App* AddNested(CommandLine& line, CLI::App* parent, const std::string& name, const std::string& doc,
                    std::function<int(App&)> run, bool blocks_signals = false) {
  CLI::App* command = parent->add_subcommand(name, doc);
  command->fallthrough();
  command->footer(HelpFooter(parent->get_name().empty() ? name : parent->get_name() + " " + name));
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

// Shorter flags for common settings.
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

// The same for a boolean setting: the flag alone means true.
void AddSwitch(CLI::App* command, CommandLine& line, const std::string& name, const std::string& key,
               const std::string& doc) {
  command->add_flag_callback(
      name, [&line, key] { line.sources.flags.emplace_back(key, std::vector<std::string>{"true"}); }, doc);
}

void AddAllowFactories(CLI::App* command, CommandLine& line) {
  AddSwitch(command, line, "--allow-factories", "capture.allow_factories",
            "Let workers run your own code, for python: and script: models (capture.allow_factories)");
}

void AddSelection(CLI::App* command, ModelSelection& selection, const std::string& effect) {
  const CLI::Validator filled([](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, "");
  command
      ->add_option("--filter", selection.filter,
                   effect + " that match an expression such as 'family:audio and not status:timeout'")
      ->check(filled);
  command->add_option("--owner", selection.owner, effect + " of this owner (models.file); short for owner:NAME")
      ->check(filled);
}

void AddSweepOptions(CLI::App* command, CommandLine& line, const std::shared_ptr<SweepOptions>& o) {
  command
      ->add_option(
          "--model", o->models,
          "Use these models: id[@revision], python:package.module:function, script:FILE[::HASH], @FILE with names, "
          "or a filter; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--owner", o->owner,
                      "Use only the models of the ranking with this owner (models.file); short for --model owner:NAME");
  command->add_option("--plan", o->plan_file,
                      "Use the models of a plan that `plan --output` saved, at the commits in the plan");
  command->add_option("--toolchain", o->toolchain,
                      "Capture with this toolchain only; the main metrics remain those of the primary one");
  AddAllowFactories(command, line);
  AddShort(command, line, "--modes", "capture.modes",
           "Capture each model in these modes, separated by commas (capture.modes)");
  AddShort(command, line, "--top", "hub.top", "Number of models, best rank first (hub.top)");
  AddShort(command, line, "--rebuild", "sweep.rebuild",
           "When to repeat captures that have a result: if-needed, always or never (sweep.rebuild)");
}

// "10%" or "10". Throws what the parser reports.
double PercentIn(std::string text) {
  if (text.ends_with('%')) text.pop_back();
  double percent = 0;
  if (!CLI::detail::lexical_cast(text, percent) || !(percent >= 0 && percent <= 1000)) {
    throw CLI::ValidationError("--latency-tolerance", "expected a percentage from 0% to 1000%");
  }
  return percent;
}

// What the gate accepts. A check of the names comes first, so that a mistyped one does not cost a sweep.
void AddGateOptions(CLI::App* command, GateOptions& gate) {
  command->add_option(
      "--allow", gate.allow,
      "Allow-list of accepted breaks; default: the baseline's path with extension .allow.yaml, if that file exists");
  command
      ->add_option("--ignore", gate.ignore,
                   "Ignore new-sites (new break sites), gone (models without a new result), latency or a quantity; can "
                   "be repeated")
      ->check(CLI::IsMember(IgnorableNames()))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option_function<std::string>(
          "--latency-tolerance", [&gate](const std::string& text) { gate.latency_tolerance = PercentIn(text); },
          "Times of benchmarks may change by this much, as in 10%; smaller and insignificant changes do not count")
      ->type_name("PERCENT");
}

void AddServer(CLI::App* command, CommandLine& line) {
  command->add_option("--server", line.server,
                      "Ask the daemon at this URL instead of reading the state directory, with the token of "
                      "web.token_file");
}

void AddSweeps(CommandLine& line) {
  auto o = std::make_shared<SweepOptions>();
  auto* sweep = AddCommand(
      line, "sweep", "Capture models that have no result yet; store, publish and print the results",
      [o](App& app) { return RunSweep(app, *o); }, true);
  AddSweepOptions(sweep, line, o);
  sweep->add_flag("--track", o->track, "Add these models to the tracked set, whose numbers are published");
  sweep->add_flag("--resume", o->resume, "Continue the newest unfinished sweep");
  sweep->add_flag_callback(
      "--fix", [&line] { line.sources.flags.emplace_back("capture.fix", std::vector<std::string>{"broken"}); },
      "Afterwards, try the known fixes on the models that break (capture.fix)");
  sweep->add_flag("--local-gateway", o->local_gateway, "Use or start a Pushgateway on loopback if none is configured");
  sweep->add_flag("--quiet", o->quiet, "Print no progress");
  AddServer(sweep, line);
  sweep->add_option("--gate", o->gate.baseline,
                    "Compare the results with this baseline file; exit with code 2 if a result is worse");
  AddGateOptions(sweep, o->gate);

  auto p = std::make_shared<SweepOptions>();
  auto* plan = AddCommand(
      line, "plan", "List what a sweep would do with each model, and why", [p](App& app) { return RunPlan(app, *p); },
      true);
  AddSweepOptions(plan, line, p);
  plan->add_flag("--track", p->track, "Only recorded in the plan; to track the models, give --track to `sweep`");
  plan->add_option("--output", p->output, "Also write the plan to this file, for `sweep --plan`");

  auto s = std::make_shared<ServeOptions>();
  auto* serve = AddCommand(
      line, "serve", "Run the daemon: sweep at an interval, on SIGUSR1 and on request",
      [s](App& app) { return RunServe(app, *s); }, true);
  AddAllowFactories(serve, line);
  AddShort(serve, line, "--top", "hub.top", "Number of models, best rank first (hub.top)");
  serve->add_flag("--local-gateway", s->local_gateway, "Use or start a Pushgateway on loopback if none is configured");

  auto* page = AddCommand(line, "page", "Show the stored results in a browser, without a daemon", RunPage, true);
  AddShort(page, line, "--listen", "web.listen_address", "HOST:PORT to listen on (web.listen_address)");
}

// The options of every command that is a sweep in a mode of its own.
void AddInMode(CLI::App* command, CommandLine& line, const std::shared_ptr<ModeCommandOptions>& o) {
  command->add_option("models", o->sweep.models,
                      "Models, as `sweep --model` takes them: ids, @FILE, your own code, or a filter of the ranking");
  command->add_option("--owner", o->sweep.owner, "Use only the models of the ranking with this owner (models.file)");
  command->add_option("--toolchain", o->sweep.toolchain, "Use this toolchain only");
  AddServer(command, line);
  AddAllowFactories(command, line);
  AddShort(command, line, "--top", "hub.top", "Number of models that filters select from, best rank first (hub.top)");
  AddShort(command, line, "--rebuild", "sweep.rebuild",
           "When to repeat what has a result: if-needed, always or never (sweep.rebuild)");
  command->add_flag("--quiet", o->sweep.quiet, "Print no progress");
  command->add_option("--format", o->format, "Output format: text, md, csv or json")->capture_default_str();
  command->add_option("--output", o->output, "Write to this file instead of standard output");
}

CLI::App* AddMeasure(CommandLine& line, const std::string& name, const std::string& doc,
                     int (*run)(App&, const MeasureCommandOptions&)) {
  auto o = std::make_shared<MeasureCommandOptions>();
  auto* command = AddCommand(
      line, name, doc, [o, run](App& app) { return run(app, *o); }, true);
  AddInMode(command, line, {o, &o->in_mode});
  AddShort(command, line, "--backends", "measure.backends", "Backends, separated by commas (measure.backends)");
  command->add_flag("--list-backends", o->list_backends, "List the backends and exit");
  AddShort(command, line, "--batch", "measure.batches", "Batch sizes, separated by commas (measure.batches)");
  AddShort(command, line, "--seq", "measure.seq", "Length of sequences; 0: that of the usual inputs (measure.seq)");
  AddShort(command, line, "--dtype", "measure.dtype", "float32, bfloat16 or float16 (measure.dtype)");
  AddShort(command, line, "--threads", "measure.threads", "Threads of the measured model (measure.threads)");
  AddShort(command, line, "--device", "measure.device", "cpu or cuda (measure.device)");
  AddSwitch(command, line, "--full", "measure.full",
            "Measure the configuration as published, with random weights, not the reduced model (measure.full)");
  AddSwitch(command, line, "--dynamic", "measure.dynamic", "Measure also with dynamic shapes (measure.dynamic)");
  AddShort(command, line, "--min-runs", "measure.min_runs",
           "Least number of runs of each measurement (measure.min_runs)");
  AddShort(command, line, "--min-time", "measure.min_time", "Least time of each measurement (measure.min_time)");
  return command;
}

void AddMeasures(CommandLine& line) {
  auto* profile =
      AddMeasure(line, "profile", "Measure what each graph, and the Python code between graphs, costs", RunProfile);
  AddShort(profile, line, "--prices", "measure.prices_file",
           "YAML file with prices of machines: also print the cost of a million requests (measure.prices_file)");
  AddMeasure(line, "bench", "Measure latency, throughput, compile time and memory of whole models", RunBench);
}

void AddFix(CommandLine& line) {
  auto o = std::make_shared<FixCommandOptions>();
  auto* command = AddCommand(
      line, "fix", "Try the known fixes on models that break, and show which help",
      [o](App& app) { return RunFix(app, *o); }, true);
  AddInMode(command, line, {o, &o->in_mode});
  command->add_option("--fix", o->names, "Try these fixes only, separated by commas; default: all that apply")
      ->delimiter(',');
  command->add_flag("--alone", o->alone, "Try no combinations of fixes");
}

void AddImport(CommandLine& line) {
  auto o = std::make_shared<ImportOptions>();
  auto* import = AddCommand(
      line, "import", "Store the breaks in the TORCH_TRACE directory of a real job",
      [o](App& app) { return RunImport(app, *o); }, true);
  import->add_option("path", o->path, "TORCH_TRACE directory of the job, or one file of it")->required();
  import->add_option("--model", o->model, "Name of the model in results and metrics")->required();
  import->add_option("--commit", o->commit, "Commit of the model's code that ran")->required();
  import->add_option("--family", o->family, "Family of the model: nlp, vision, audio, ...");
  import->add_flag("--track", o->track,
                   "Add the model to the tracked set; its numbers are published if metrics.extra contains import");
  import->add_flag("--quiet", o->quiet, "Print no progress");
}

void AddReads(CommandLine& line) {
  auto show = std::make_shared<ShowOptions>();
  auto* command = AddCommand(line, "show", "Show one model: status, numbers, graphs, break sites, inputs",
                             [show](App& app) { return RunShow(app, *show); });
  command->add_option("model", show->model, "Id of the model, or a part of it that matches one model");
  AddServer(command, line);
  AddSelection(command, show->selection, "List the results of all models");
  command->add_option("--sweep", show->sweep, "Show the result of this sweep instead of the newest one");
  command->add_option("--mode", show->mode,
                      "Show the result of this mode or call variant; default: eval if there is one");
  command->add_option("--toolchain", show->toolchain, "Show the result by this toolchain; default: the primary one");
  command->add_option("--format", show->format, "Output format: text, md, csv (a row per break site) or json")
      ->capture_default_str();

  auto reasons = std::make_shared<ReasonsOptions>();
  command = AddCommand(line, "reasons", "List the reasons of graph breaks, most frequent first",
                       [reasons](App& app) { return RunReasons(app, *reasons); });
  AddServer(command, line);
  command->add_option("--by", reasons->by,
                      "Order: events (default), sites, models, leverage, cost (time); or of --sites: models (default), "
                      "downloads, events");
  auto* sites = command->add_flag("--sites", reasons->sites,
                                  "List the lines of code that break graphs, and which few of them to change first");
  command->add_option("--lines", reasons->lines, "With --sites: change at most this many lines")
      ->check(CLI::Range(1, 1000))
      ->needs(sites)
      ->capture_default_str();
  command->add_option("--limit", reasons->limit, "Print at most this many; 0: all");
  command->add_option("--sweep", reasons->sweep, "Id of the sweep")->capture_default_str();
  command->add_option("--mode", reasons->mode, "Count results of this mode instead of eval");
  AddSelection(command, reasons->selection, "Count only models");

  auto report = std::make_shared<ReportOptions>();
  command =
      AddCommand(line, "report", "Print a sweep as a document", [report](App& app) { return RunReport(app, *report); });
  AddServer(command, line);
  command->add_option("sweep,--sweep", report->sweep, "Id of the sweep")->capture_default_str();
  AddSelection(command, report->selection, "Print only models");
  command->add_option("--format", report->format, "Output format: " + report::ReportFormatNames())
      ->capture_default_str();
  command->add_option("--output", report->output, kOutputDoc);
  auto* gate = command->add_option("--gate", report->gate.baseline,
                                   "Include the decision of the gate with this baseline file; the exit code stays 0");
  AddGateOptions(command, report->gate);
  command->add_flag("--list", report->list, "List the stored sweeps")->excludes(gate);
}

void AddDays(CLI::App* command, TrendsOptions& o) {
  command->add_option("--since", o.query.since, "First day, as 2026-03-01 (UTC); default: the oldest");
  command->add_option("--until", o.query.until, "Last day; default: the newest");
}

void AddTrends(CommandLine& line) {
  auto o = std::make_shared<TrendsOptions>();
  auto* trends = AddCommand(line, "trends", "Show how the published numbers changed, day by day, over months and years",
                            [o](App& app) { return RunTrends(app, *o); });
  trends->add_option("--by", o->query.by, "all: one series; family or reason: a series for each")
      ->check(CLI::IsMember({"all", "family", "reason"}))
      ->capture_default_str();
  AddDays(trends, *o);
  trends->add_option("--family", o->query.family, "Show this family only: nlp, vision, audio, ...");
  trends->add_option("--reason", o->query.reason, "Show this reason only: its text or its id, as GB0170");
  trends->add_option("--toolchain", o->query.toolchain,
                     "Show the numbers by this toolchain; default: those that were published on each day");
  trends->add_flag("--daily", o->daily, "Print a row for each day, as csv and json always do");
  trends->add_option("--format", o->format, "Output format: text, md, csv or json (both a row per day and series)")
      ->capture_default_str();
  trends->add_option("--output", o->output, "Write to this file instead of standard output");
}

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

void AddCompare(CommandLine& line) {
  auto o = std::make_shared<CompareOptions>();
  auto* compare = AddCommand(line, "compare", "Compare two sets of results, model by model and site by site",
                             [o](App& app) { return RunCompare(app, *o); });
  compare->add_option("a", o->a, "Old results: id of a sweep, latest, previous, toolchain:NAME or MODEL@COMMIT");
  compare->add_option("b", o->b, "New results, in the same form");
  AddServer(compare, line);
  compare->add_option(
      "--baseline", o->gate.baseline,
      "Compare this baseline with one set of results (default: latest); exit with code 2 if a result is worse");
  compare->add_option("--mode", o->mode, "Compare results of this mode; default: all modes that both sides have");
  compare->add_option("--fail-on", o->fail_on, "worse: exit with code 2 if a model got worse")
      ->check(CLI::IsMember({"worse"}));
  AddGateOptions(compare, o->gate);
  AddSelection(compare, o->selection, "Compare only models");
  compare->add_flag("--all", o->all, "Also list the models that did not change");
  compare->add_option("--format", o->format, "Output format: " + report::ReportFormatNames())->capture_default_str();
  compare->add_option("--output", o->output, kOutputDoc);
}

CLI::App* AddParent(CommandLine& line, const std::string& name, const std::string& doc) {
  CLI::App* parent = line.cli.add_subcommand(name, doc);
  parent->require_subcommand(1);
  parent->fallthrough();
  parent->footer("`breakwatch " + name +
                 " COMMAND --help` lists the options, settings, examples and exit codes of a command.");
  return parent;
}

void AddBaseline(CommandLine& line) {
  CLI::App* baseline =
      AddParent(line, "baseline", "Write, show and compare the baseline of sweep --gate, a text file of results");
  const auto add = [&](const char* name, const char* doc, int (*run)(App&, const BaselineOptions&)) {
    auto o = std::make_shared<BaselineOptions>();
    auto* command = AddNested(line, baseline, name, doc, [o, run](App& app) { return run(app, *o); });
    command->add_option("file", o->path, "Baseline: a text file to keep under version control")->capture_default_str();
    return std::pair(command, o);
  };
  auto [update, o] = add("update", "Write the results of a sweep to the baseline", RunBaselineUpdate);
  update->add_option("--sweep", o->sweep, "Id of the sweep")->capture_default_str();
  update->add_flag("--keep", o->keep, "Keep the lines of models that are not in the sweep");
  add("show", "List the baseline", RunBaselineShow);
  auto [diff, d] = add("diff", "Show what `baseline update` would change", RunBaselineDiff);
  diff->add_option("--sweep", d->sweep, "Id of the sweep")->capture_default_str();
}

void AddDiscover(CommandLine& line) {
  auto discover = std::make_shared<DiscoverRequest>();
  auto* command = AddCommand(line, "discover", "Run a script and list the modules that it calls",
                             [discover](App& app) { return RunDiscover(app, *discover); });
  command->add_option("script", discover->script, "Script to run, in a worker and its sandbox")->required();
  command->add_option("arguments", discover->arguments, "Arguments of the script, after --");
  command->add_option("--max-depth", discover->max_depth, "Also list modules called by modules, down to this depth")
      ->check(CLI::Range(0, 100));
  command->add_option("--timeout", discover->timeout_s, "Stop the script after this many seconds")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
}

void AddBisect(CommandLine& line) {
  auto o = std::make_shared<BisectOptions>();
  auto* bisect = AddCommand(
      line, "bisect", "Find out which of torch, transformers and the commit changed a model's breaks",
      [o](App& app) { return RunBisect(app, *o); }, true);
  bisect->add_option("model", o->model, "Id of the model, or a part of it that matches one model")->required();
  bisect->add_option(
      "--from", o->from,
      "Old state: TOOLCHAIN, COMMIT or TOOLCHAIN@COMMIT; default: the newest stored state with different breaks");
  bisect->add_option("--to", o->to, "New state; default: the primary toolchain at the newest commit");
  bisect->add_option("--mode", o->mode, "Use results of this mode")->capture_default_str();
  bisect->add_option("--format", o->format, "Output format: text, md, csv (a row per combination) or json")
      ->capture_default_str();
  bisect->add_option("--output", o->output, "Write to this file instead of standard output");
  bisect->add_flag("--quiet", o->quiet, "Print no progress");
}

void AddArtifactBuild(CommandLine& line, CLI::App* parent) {
  auto o = std::make_shared<ArtifactBuildOptions>();
  auto* build = AddNested(
      line, parent, "build", "Fetch a model, compile it to packages, and check them",
      [o](App& app) { return RunArtifactBuild(app, *o); }, true);
  build->add_option("model", o->model, "Id of the model, id@revision")->required();
  build
      ->add_option("--target", o->targets,
                   "What to compile to: aot_inductor, torchscript, onnx, tensorrt, neuron; separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"aot_inductor", "torchscript", "onnx", "tensorrt", "neuron"}))
      ->allow_extra_args(false)
      ->capture_default_str();
  build->add_option("--weights", o->weights, "random, hub (of the pinned commit), or a folder with safetensors files")
      ->capture_default_str();
  build->add_option("--seed", o->seed, "Random seed of weights and recorded inputs")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{2'147'483'647}))
      ->capture_default_str();
  build->add_option("--dtype", o->dtype, "Data type of the weights")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16"}))
      ->capture_default_str();
  build->add_option("--batch", o->batch, "Batch size of the recorded inputs")
      ->check(CLI::Range(1, 4'096))
      ->capture_default_str();
  build->add_flag("--dynamic", o->dynamic, "Compile for any batch size");
  build->add_flag("--full", o->full, "Compile the configuration as published instead of the reduced model");
  build->add_option("--cpu-capability", o->cpu_capability, "Vector instructions to use; default: this machine's")
      ->check(CLI::IsMember({"avx512", "avx2", "default"}));
  build->add_option("--rebuild", o->rebuild, "When to build a package that exists: if-needed or always")
      ->check(CLI::IsMember({"if-needed", "always"}))
      ->capture_default_str();
  build->add_option("--until", o->until, "Last stage to run: fetch, build or check")
      ->check(CLI::IsMember({"fetch", "build", "check"}))
      ->capture_default_str();
}

struct ArtifactCommand {
  CLI::App* command;
  std::shared_ptr<ArtifactOptions> options;
};

ArtifactCommand AddArtifactCommand(CommandLine& line, CLI::App* parent, const char* name, const char* doc,
                                   int (*run)(App&, const ArtifactOptions&), const char* id_doc = nullptr) {
  auto o = std::make_shared<ArtifactOptions>();
  auto* command = AddNested(
      line, parent, name, doc, [o, run](App& app) { return run(app, *o); }, true);
  if (id_doc != nullptr) command->add_option("id", o->id, id_doc)->required();
  return {command, std::move(o)};
}

void AddArtifactFilter(CLI::App* command, ArtifactOptions& o) {
  command->add_option("--model", o.model, "Only packages of this model");
  command->add_option("--target", o.target, "Only packages for this target");
}

void AddArtifacts(CommandLine& line) {
  constexpr const char* kId = "Id of the artifact or its package, or its first 6 or more digits";
  CLI::App* parent = AddParent(line, "artifact", "Build, check, publish and fetch compiled packages of models");
  AddArtifactBuild(line, parent);
  AddArtifactCommand(line, parent, "check", "Load a package and compare its outputs with the recorded ones",
                     RunArtifactCheck, kId);
  auto [publish, p] =
      AddArtifactCommand(line, parent, "publish", "Copy a checked package to a registry", RunArtifactPublish, kId);
  publish->add_option("--to", p->registry, "dir:PATH, mlflow:URL or oci:HOST/REPOSITORY[:TAG]")->required();
  publish->add_option("--sign-key", p->sign_key, "Sign the manifest with this ed25519 key (PEM)");
  auto [pull, u] = AddArtifactCommand(line, parent, "pull", "Fetch a package from a registry", RunArtifactPull);
  pull->add_option("from", u->registry, "Registry, as --to of publish, or the reference that publish printed")
      ->required();
  pull->add_option("--output", u->output, "Folder to create")->required();
  pull->add_option("--id", u->id, "Only the package with this id, or its first digits");
  AddArtifactFilter(pull, *u);
  pull->add_option("--public-key", u->public_key, "Refuse packages that are not signed by this ed25519 key (PEM)");
  auto [verify, v] = AddArtifactCommand(line, parent, "verify", "Compare the files of a package with its manifest",
                                        RunArtifactVerify, "Folder of a package, or id of an artifact");
  verify->add_option("--public-key", v->public_key, "Also verify the signature with this ed25519 key (PEM)");
  auto [ls, l] = AddArtifactCommand(line, parent, "ls", "List artifacts, the newest first", RunArtifactLs);
  ls->add_option("--from", l->registry, "List the packages in this registry");
  ls->add_option("--limit", l->limit, "Print at most this many")->check(CLI::Range(1, 100'000))->capture_default_str();
  AddArtifactFilter(ls, *l);
  AddArtifactCommand(line, parent, "show", "Show the stages of an artifact", RunArtifactShow, kId);
  auto [gc, g] = AddArtifactCommand(line, parent, "gc", "Remove old packages and unfinished builds", RunArtifactGc);
  gc->add_option("--keep-last", g->collect.keep_last, "Keep this many packages of each model and target")
      ->check(CLI::Range(1, 1'000'000));
  gc->add_option("--max-bytes", g->collect.max_bytes, "Keep the newest packages up to this size, such as 20GiB")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false));
  gc->add_flag("--dry-run", g->collect.dry_run, "Only list what would be removed");
}

void AddUpkeep(CommandLine& line) {
  CLI::App* store = AddParent(line, "store", "Inspect, repair and export the store");
  AddNested(line, store, "info", "Print the location of the store and what it contains", RunStoreInfo);
  AddNested(line, store, "check", "Read every row and list the damaged ones: table, row and model", RunStoreCheck);
  AddNested(line, store, "finish", "Write the reports of sweeps that ended without one", RunStoreFinish);
  AddNested(line, store, "rebuild", "Compute the current state and the trends again from the stored results",
            RunStoreRebuild);
  AddNested(line, store, "repair", "Copy everything undamaged into a new database and keep the damaged one beside it",
            RunStoreRepair);
  AddExport(line, store);

  CLI::App* config = AddParent(line, "config", "Show, check and explain the settings");
  AddNested(line, config, "show", "Print every setting, its value and where it came from", RunConfigShow);
  line.config_check = AddNested(line, config, "check", "Load the settings and report problems", RunConfigCheck);
  auto key = std::make_shared<std::string>();
  auto* explain =
      AddNested(line, config, "explain", "Print meaning, type, default, environment variable and flag of settings",
                [key](App& app) { return RunConfigExplain(app, *key); });
  explain->add_option("key", *key, "Key or section; default: all");
  AddNested(line, config, "example", "Print a settings file with every default", RunConfigExample);

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

  AddCommand(line, "doctor", "Check what a sweep needs, and print a fix for each problem", RunDoctor);
  AddCommand(line, "version", "Print the version", RunVersion);
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

// --json is short for --format json. Throws for another format beside it.
void CheckOneFormat(const CLI::App& cli) {
  for (const CLI::App* command : cli.get_subcommands()) {
    const CLI::Option* format = command->get_option_no_throw("--format");
    const bool other = format != nullptr && format->count() > 0 && format->as<std::string>() != "json";
    if (other) throw CLI::ExcludesError("--json", "--format " + format->as<std::string>());
    CheckOneFormat(*command);
  }
}

int Run(App& app, int argc, char** argv) {
  CommandLine line;
  line.cli.footer(kFooter);
  line.cli.require_subcommand(1);
  line.cli.set_version_flag("--version", "breakwatch " + app.version);
  AddSettings(line);
  AddSweeps(line);
  AddMeasures(line);
  AddFix(line);
  AddImport(line);
  AddReads(line);
  AddTrends(line);
  AddCompare(line);
  AddBaseline(line);
  AddDiscover(line);
  AddBisect(line);
  AddArtifacts(line);
  AddDelivery(line);
  AddUpkeep(line);
  try {
    line.cli.parse(argc, argv);
    if (line.json) CheckOneFormat(line.cli);
  } catch (const CLI::ParseError& error) {
    return ReportParse(app, line.cli, error);
  }
  for (const auto& [key, text] : line.switches) {
    if (!text.empty()) line.sources.flags.emplace_back(key, std::vector<std::string>{text});
  }
  app.json = line.json;
  app.server = line.server;
  app.sources = std::move(line.sources);
  app.sources.environment = config::ProcessEnvironment();
  auto loaded = config::Load(app.sources);
  if (!loaded) return Fail(app, loaded.error());
  app.loaded = std::move(*loaded);
  if (!line.config_check->parsed()) {  // that command prints them itself
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
