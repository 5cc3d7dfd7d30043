// The flags of the commands that capture and measure.
#include "command_line.h"

namespace breakwatch::commands {
namespace {

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

}  // namespace

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

void AddMeasures(CommandLine& line) {
  auto* profile =
      AddMeasure(line, "profile", "Measure what each graph, and the Python code between graphs, costs", RunProfile);
  AddShort(profile, line, "--prices", "measure.prices_file",
           "YAML file with prices of machines: also print the cost of a million requests (measure.prices_file)");
  AddMeasure(line, "bench", "Measure latency, throughput, compile time and memory of whole models", RunBench);
}

void AddFixes(CommandLine& line) {
  auto o = std::make_shared<FixCommandOptions>();
  auto* command = AddCommand(
      line, "fix", "Try the known fixes on models that break, and show which help",
      [o](App& app) { return RunFix(app, *o); }, true);
  AddInMode(command, line, {o, &o->in_mode});
  command->add_option("--fix", o->names, "Try these fixes only, separated by commas; default: all that apply")
      ->delimiter(',');
  command->add_flag("--alone", o->alone, "Try no combinations of fixes");

  auto r = std::make_shared<ReproCommandOptions>();
  command = AddCommand(
      line, "repro", "Write a Python file that shows a model's breaks with torch and transformers alone",
      [r](App& app) { return RunRepro(app, *r); }, true);
  AddInMode(command, line, {r, &r->in_mode});
  command->add_option("--site", r->site,
                      "Show one break site only: its id, or at least the first 8 digits of it, as `show` prints it");
  command->add_flag(
      "--minimal", r->minimal,
      "Reduce the model, its configuration and its arguments to what the break needs; takes a minute or two");
  command->add_flag("--keep", r->keep,
                    "Capture once more in a folder that stays, and print the command that repeats this capture");
  command->add_flag("--trace", r->trace, "As --keep, and leave a TORCH_TRACE directory in the folder");
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

void AddSearches(CommandLine& line) {
  AddDiscover(line);
  AddBisect(line);
}

}  // namespace breakwatch::commands
