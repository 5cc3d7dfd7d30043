#include "usage_errors.h"

#include <sstream>

#include "breakwatch/config/keys.h"
#include "breakwatch/core/text.h"
#include "commands.h"

namespace breakwatch::commands {
namespace {

// Secrets have no flags, because `ps` would show them. The message does not repeat the value.
int FailSecretFlag(const App& app, const config::Key& key) {
  Complain(app, "--" + key.name + " is not a flag: other users of this machine could read it; set " + key.name +
                    "_file, or the environment variable " + config::EnvironmentName(key));
  return kExitUsage;
}

// The help of the command that was typed.
std::string HelpOf(const CLI::App& cli) {
  std::string command = "breakwatch";
  for (auto typed = cli.get_subcommands(); !typed.empty(); typed = typed.front()->get_subcommands()) {
    command += " " + typed.front()->get_name();
  }
  return "; see `" + command + " --help`";
}

int FailUnknownFlag(const App& app, const CLI::App& cli, const std::string& word) {
  const std::string flag = word.substr(0, word.find('='));
  for (const config::Key& key : config::Keys()) {
    if (key.is_secret && flag == "--" + key.name) return FailSecretFlag(app, key);
  }
  std::vector<std::string> names;
  for (const config::Key& key : config::Keys()) names.push_back("--" + std::string(key.name));
  const auto nearest = NearestName(flag, names);
  Complain(app,
           "unknown option \"" + flag + "\"" + (nearest ? "; did you mean \"" + *nearest + "\"?" : "") + HelpOf(cli));
  return kExitUsage;
}

}  // namespace

int ReportParse(const App& app, const CLI::App& cli, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // --help
    std::ostringstream text;
    const int code = cli.exit(error, text, text);
    Print(app, text.str());
    return code;
  }
  for (const std::string& word : cli.remaining()) {
    if (word.starts_with("-")) return FailUnknownFlag(app, cli, word);
    if (word == "true" || word == "false") {
      Complain(app, "\"" + word + "\" is not expected: write a switch as --hub.offline=" + word);
      return kExitUsage;
    }
    std::vector<std::string> names;
    for (const CLI::App* command : cli.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(command->get_name());
    const auto nearest = NearestName(word, names);
    Complain(app, "unknown command \"" + word + "\"" + (nearest ? "; did you mean \"" + *nearest + "\"?" : "") +
                      "; see `breakwatch --help`");
    return kExitUsage;
  }
  Complain(app, error.what() + HelpOf(cli));
  return kExitUsage;
}

}  // namespace breakwatch::commands
