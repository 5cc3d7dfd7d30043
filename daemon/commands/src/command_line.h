// The command line while it is put together: the commands add themselves with their own flags.
#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/config/keys.h"
#include "commands.h"

namespace breakwatch::commands {

// The parsed command line: exactly one command, which runs after the settings are loaded.
struct CommandLine {
  CLI::App cli{"Find the graph breaks of torch.compile: in which model, for which reason, since which commit."};
  config::Sources sources;
  std::deque<std::pair<std::string, std::string>> switches;  // boolean settings by key; the text is empty if not given
  std::vector<config::Flag> flags;                           // of the settings
  std::map<const CLI::Option*, std::string> setting_of{};    // the key of an option that is short for a setting
  std::string server;
  bool json = false;
  bool parse_only = false;  // end before the command runs
  bool blocks_signals = false;
  const CLI::App* config_check = nullptr;
  std::function<int(App&)> run;
};

// What many commands have.
inline constexpr const char* kOutputDoc =
    "Write to this file instead of standard output; github: the step summary instead of $GITHUB_STEP_SUMMARY";

CLI::App* AddNested(CommandLine& line, CLI::App* parent, const std::string& name, const std::string& doc,
                    std::function<int(App&)> run, bool blocks_signals = false);
CLI::App* AddCommand(CommandLine& line, const std::string& name, const std::string& doc, std::function<int(App&)> run,
                     bool blocks_signals = false);
// A command that has commands.
CLI::App* AddParent(CommandLine& line, const std::string& name, const std::string& doc);
// Shorter flags for common settings.
void AddShort(CLI::App* command, CommandLine& line, const std::string& name, const std::string& key,
              const std::string& doc);
// The same for a boolean setting: the flag alone means true.
void AddSwitch(CLI::App* command, CommandLine& line, const std::string& name, const std::string& key,
               const std::string& doc);
void AddAllowFactories(CLI::App* command, CommandLine& line);
void AddSelection(CLI::App* command, ModelSelection& selection, const std::string& effect);
// What the gate accepts. A check of the names comes first, so that a mistyped one does not cost a sweep.
void AddGateOptions(CLI::App* command, GateOptions& gate);
void AddServer(CLI::App* command, CommandLine& line);
void AddDays(CLI::App* command, TrendsOptions& options);

// The commands, by what they do.
void AddSweeps(CommandLine& line);    // sweep, plan, serve, page
void AddMeasures(CommandLine& line);  // profile, bench
void AddFixes(CommandLine& line);     // fix, repro
void AddImport(CommandLine& line);
void AddReads(CommandLine& line);     // show, reasons, report, trends, compare, baseline
void AddSearches(CommandLine& line);  // discover, bisect
void AddArtifacts(CommandLine& line);
void AddUpkeep(CommandLine& line);  // events, dead-letters, store, config, hub, setup, doctor, version
void AddDocs(CommandLine& line);    // hidden

}  // namespace breakwatch::commands
