// The command line: one table maps settings to flags for all commands; the other files *_flags.cc have those of each
// command.
#include "command_line.h"

#include <system_error>

#include "breakwatch/core/threads.h"
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

// Settings that all commands use; `--help` lists their flags.
bool IsCommon(const std::string& key) { return key == "state_dir" || key.starts_with("log."); }

void AddSettings(CommandLine& line) {
  // One value per flag: the next word may be an argument of the command.
  line.cli
      .add_option("--config.file", line.sources.files,
                  "Read settings from this YAML file; can be repeated, later files override earlier ones")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  line.cli.add_flag("--json", line.json, "Print JSON");
  // For the test that checks the examples which it cannot run.
  line.cli.add_flag("--parse-only", line.parse_only, "Read the command line and the settings, and end")->group("");
  line.flags = config::Flags();
  for (const config::Flag& flag : line.flags) {
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
  for (const auto& add :
       {AddSweeps, AddMeasures, AddFixes, AddImport, AddReads, AddSearches, AddArtifacts, AddUpkeep, AddDocs})
    add(line);
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
  if (line.parse_only) return kExitOk;
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
