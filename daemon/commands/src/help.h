// The part of `breakwatch COMMAND --help` below the options: settings, examples and exit codes of that command.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace breakwatch::commands {

struct Example {
  std::string_view command;  // after "breakwatch "; a whole shell line if it begins with breakwatch or python
  std::string_view result;   // what it does
};

struct CommandHelp {
  std::string_view name;                   // "sweep", "store check"
  std::vector<std::string_view> settings;  // the settings that the command uses
  std::vector<Example> examples;
  std::vector<int> exit_codes;  // all possible exit codes
  bool filters = false;         // it takes filters of models
  std::string_view note{};      // whole lines
};

std::span<const CommandHelp> AllCommandHelp();
// The parts of them.
std::vector<CommandHelp> SweepHelp();
std::vector<CommandHelp> ReadHelp();
std::vector<CommandHelp> ArtifactHelp();
std::vector<CommandHelp> StoreHelp();
std::vector<CommandHelp> OtherHelp();

// Empty: no such command.
std::string HelpFooter(std::string_view command);

// The parts of a footer.
std::string FilterText(const CommandHelp& help);  // empty if it takes none
std::string ExampleLine(const Example& example);  // the whole line
std::string ExitCodesText(const CommandHelp& help);

}  // namespace breakwatch::commands
