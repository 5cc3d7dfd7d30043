// What `breakwatch COMMAND --help` shows below the options: settings, examples and exit codes of that command alone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace breakwatch::commands {

struct Example {
  std::string_view command;  // after "breakwatch "; a line of the shell when it names breakwatch or python itself
  std::string_view result;   // what it does
};

struct CommandHelp {
  std::string_view name;                   // "sweep", "store check"
  std::vector<std::string_view> settings;  // keys that matter to it
  std::vector<Example> examples;
  std::vector<int> exit_codes;  // all that it can end with
  std::string_view note{};      // whole lines
};

std::span<const CommandHelp> AllCommandHelp();

// Empty: no such command.
std::string HelpFooter(std::string_view command);

}  // namespace breakwatch::commands
