// The flags of the commands that print stored results.
#include "breakwatch/report/formats.h"
#include "command_line.h"

namespace breakwatch::commands {
namespace {

void AddShows(CommandLine& line) {
  auto show = std::make_shared<ShowOptions>();
  auto* command = AddCommand(line, "show", "Show one model: status, numbers, graphs, break sites, inputs",
                             [show](App& app) { return RunShow(app, *show); });
  command->add_option("model", show->model, "Id of the model, or a part of it that matches one model");
  AddServer(command, line);
  AddSelection(command, show->selection, "List the results of all models");
  command->add_flag("--stack", show->stack,
                    "Show all calls that lead to each break, from the model's forward down, with their source lines");
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

  auto issue = std::make_shared<IssueOptions>();
  command = AddCommand(
      line, "issue", "Write a bug report about a model, a reason or a line, for PyTorch or transformers",
      [issue](App& app) { return RunIssue(app, *issue); }, true);
  command->add_option("target", issue->target, "Id of a model, of a reason (GB0170), its text, or id of a site")
      ->required();
  AddServer(command, line);
  command->add_option("--for", issue->tracker, "The project that gets it; default: the one whose code has the line")
      ->check(CLI::IsMember({"torch", "transformers"}));
  auto* file = command->add_option(
      "--repro", issue->repro, "Include this file; default: the newest that `breakwatch repro` stored for the break");
  command
      ->add_flag("--with-repro", issue->with_repro,
                 "Make the smallest file that shows the break, if none is stored; takes a minute or two")
      ->excludes(file);
  command->add_option("--sweep", issue->sweep, "Id of the sweep")->capture_default_str();
  command->add_option("--mode", issue->mode, "Use results of this mode instead of eval");
  command->add_option("--output", issue->output, "Write to this file instead of standard output");

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

}  // namespace

void AddReads(CommandLine& line) {
  AddShows(line);
  AddTrends(line);
  AddCompare(line);
  AddBaseline(line);
}

}  // namespace breakwatch::commands
