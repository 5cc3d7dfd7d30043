// The command line as data: what man pages and completions of shells are made from.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "command_line.h"
#include "help.h"

namespace breakwatch::commands {

struct DocOption {
  std::vector<std::string> names;  // "-o", "--output"; of an argument one name, "models"
  std::string doc;
  std::string value;                // what it takes, as the help names it; empty: nothing, it is a switch
  std::vector<std::string> values;  // the only ones; empty: any
  bool is_setting = false;          // of the settings that every command takes
  bool is_list = false;             // values may be joined with commas, or an argument repeats
};

struct DocCommand {
  std::string name;  // "store check"; the program itself: ""
  std::string doc;
  std::vector<DocOption> arguments, options;  // its own
  std::vector<std::string> commands;          // the last words of its commands; empty: it runs
  const CommandHelp* help = nullptr;
};

struct DocModel {
  std::vector<DocCommand>
      commands;  // the program first, then depth first in the order of --help; hidden ones are not in it
  std::vector<DocOption> settings;  // as flags
};

DocModel DescribeCommandLine(const CommandLine& line);

// The renderings. Whole files.
std::string ManPage(const DocModel& model, const DocCommand& command, const std::string& version,
                    const std::string& date);
std::string SettingsPage(const std::string& version, const std::string& date);  // breakwatch.yaml(5)
std::string BashCompletion(const DocModel& model);
std::string ZshCompletion(const DocModel& model);
std::string FishCompletion(const DocModel& model);

}  // namespace breakwatch::commands
