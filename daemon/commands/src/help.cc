#include "help.h"

#include <algorithm>

#include "breakwatch/commands/app.h"
#include "breakwatch/config/keys.h"
#include "breakwatch/core/model_filter.h"

namespace breakwatch::commands {
namespace {

constexpr std::size_t kLongestMeaning = 92, kWidestLine = 120;

std::string_view NameOf(int exit_code) {
  switch (exit_code) {
    case kExitOk:
      return "success";
    case kExitFailure:
      return "failure";
    case kExitRegressions:
      return "regressions";
    case kExitIncomplete:
      return "incomplete";
    case kExitUsage:
      return "wrong usage";
    case kExitUnavailable:
      return "Hub, worker or daemon unavailable";
    case kExitStore:
      return "store or disk error";
    case kExitConfig:
      return "invalid settings";
    case kExitInterrupted:
      return "interrupted";
    default:
      return "";
  }
}

std::string Padded(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

// The first sentence, or its first clauses if it is long, to fit one line of a list.
std::string ShortMeaning(const std::string& doc) {
  std::string text = doc.substr(0, doc.find(". "));
  if (text.size() > kLongestMeaning) text.resize(std::min(text.size(), text.find_last_of(":;", kLongestMeaning)));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string SettingsText(const CommandHelp& help) {
  if (help.settings.empty()) return {};
  std::size_t width = 0;
  for (const std::string_view name : help.settings) width = std::max(width, name.size());
  std::string text = "Settings:\n";
  for (const std::string_view name : help.settings) {
    const config::Key* key = config::FindKey(name);
    text += "  " + Padded(name, width) + "  " + (key == nullptr ? "" : ShortMeaning(key->doc)) + "\n";
  }
  return text +
         "Each is a flag (--KEY VALUE), an environment variable and a key of the settings file:\n"
         "`breakwatch config explain KEY` describes it.\n\n";
}

std::string ExamplesText(const CommandHelp& help) {
  std::size_t width = 0;
  for (const Example& example : help.examples) width = std::max(width, ExampleLine(example).size());
  std::string text = "Examples:\n";
  for (const Example& example : help.examples) {
    text += "  " + Padded(ExampleLine(example), width) + "  " + std::string(example.result) + "\n";
  }
  return text + "\n";
}

}  // namespace

// What --filter and --model take, for commands with such examples.
std::string FilterText(const CommandHelp& help) {
  if (!help.filters) return {};
  std::size_t width = 0;
  for (const FilterKeyHelp& key : FilterKeys()) width = std::max(width, key.name.size());
  std::string text =
      "Filters select models by facts, joined with and, or, not and ( ); * is any text, ? one character:\n"
      "  " +
      Padded("ORG/NAME", width + 8) + "an id; org/* selects all of an organisation\n";
  for (const FilterKeyHelp& key : FilterKeys()) {
    text += "  " + Padded(std::string(key.name) + ":VALUE", width + 8) + std::string(key.meaning) + "\n";
  }
  return text + "  " + Padded("@FILE", width + 8) + "one of the filters in a file, one on each line\n\n";
}

std::string ExampleLine(const Example& example) {
  const bool whole = example.command.find("breakwatch ") != std::string_view::npos ||
                     example.command.find("python ") != std::string_view::npos ||
                     example.command.starts_with("promtool ");
  return (whole ? "" : "breakwatch ") + std::string(example.command);
}

std::string ExitCodesText(const CommandHelp& help) {
  std::string text, line;
  for (const int code : help.exit_codes) {
    const std::string word = std::to_string(code) + " " + std::string(NameOf(code));
    if (!line.empty()) line += ", ";
    if (line.size() + word.size() > kWidestLine) text += line.substr(0, line.size() - 1) + "\n  ", line.clear();
    line += (text.empty() && line.empty() ? "Exit codes: " : "") + word;
  }
  return text + line + ".";
}

std::span<const CommandHelp> AllCommandHelp() {
  static const std::vector<CommandHelp> all = [] {
    std::vector<CommandHelp> out;
    for (auto part : {SweepHelp(), ReadHelp(), ArtifactHelp(), StoreHelp(), OtherHelp()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return all;
}

std::string HelpFooter(std::string_view command) {
  for (const CommandHelp& help : AllCommandHelp()) {
    if (help.name != command) continue;
    return SettingsText(help) + FilterText(help) + ExamplesText(help) + std::string(help.note) + ExitCodesText(help) +
           "\nOptions of all commands: `breakwatch --help`.";
  }
  return {};
}

}  // namespace breakwatch::commands
