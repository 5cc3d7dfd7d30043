// What the flags of commands have in common.
#include "command_line.h"
#include "help.h"

namespace breakwatch::commands {
namespace {

// "10%" or "10". Throws what the parser reports.
double PercentIn(std::string text) {
  if (text.ends_with('%')) text.pop_back();
  double percent = 0;
  if (!CLI::detail::lexical_cast(text, percent) || !(percent >= 0 && percent <= 1000)) {
    throw CLI::ValidationError("--latency-tolerance", "expected a percentage from 0% to 1000%");
  }
  return percent;
}

}  // namespace

CLI::App* AddNested(CommandLine& line, CLI::App* parent, const std::string& name, const std::string& doc,
                    std::function<int(App&)> run, bool blocks_signals) {
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
                     bool blocks_signals) {
  return AddNested(line, &line.cli, name, doc, std::move(run), blocks_signals);
}

CLI::App* AddParent(CommandLine& line, const std::string& name, const std::string& doc) {
  CLI::App* parent = line.cli.add_subcommand(name, doc);
  parent->require_subcommand(1);
  parent->fallthrough();
  parent->footer("`breakwatch " + name +
                 " COMMAND --help` lists the options, settings, examples and exit codes of a command.");
  return parent;
}

void AddShort(CLI::App* command, CommandLine& line, const std::string& name, const std::string& key,
              const std::string& doc) {
  CLI::Option* option = command->add_option_function<std::string>(
      name,
      [&line, key](const std::string& text) { line.sources.flags.emplace_back(key, std::vector<std::string>{text}); },
      doc);
  option->take_last();
  line.setting_of[option] = key;
}

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

void AddDays(CLI::App* command, TrendsOptions& o) {
  command->add_option("--since", o.query.since, "First day, as 2026-03-01 (UTC); default: the oldest");
  command->add_option("--until", o.query.until, "Last day; default: the newest");
}

}  // namespace breakwatch::commands
