// The completion of fish: one `complete` for each command and option.
#include "docs_shells.h"

namespace breakwatch::commands {
namespace {

std::string FishQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

// The condition that the command is the one on the command line.
std::string Seen(const DocModel& model, const DocCommand& command) {
  std::string text;
  for (std::size_t begin = 0; begin < command.name.size();) {
    const std::size_t end = std::min(command.name.find(' ', begin), command.name.size());
    text += (text.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") +
            command.name.substr(begin, end - begin);
    begin = end + 1;
  }
  if (!command.commands.empty()) {
    text += (text.empty() ? "" : "; and ") + std::string("not __fish_seen_subcommand_from ") + Words(command.commands);
  }
  (void)model;
  return text;
}

std::string Values(const DocModel& model, const DocOption& option) {
  switch (OfferOf(option)) {
    case Offer::kValues:
      return " -x -a " + FishQuoted(Words(option.values));
    case Offer::kFiles:
      return " -r -F";
    case Offer::kKeys:
      return " -x -a " + FishQuoted(Words(SettingKeys(model)));
    case Offer::kNothing:
      break;
  }
  return option.value.empty() ? "" : " -x";
}

std::string Line(const std::string& condition) {
  return "complete -c breakwatch" + (condition.empty() ? "" : " -n " + FishQuoted(condition));
}

std::string OptionLine(const DocModel& model, const DocOption& option, const std::string& condition) {
  std::string text = Line(condition);
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  // A switch may have a value, but only behind "=".
  return text + (option.value.empty() ? "" : Values(model, option)) + " -d " + FishQuoted(option.doc) + "\n";
}

}  // namespace

std::string FishCompletion(const DocModel& model) {
  std::string text =
      "# fish completion for breakwatch; made by `breakwatch docs completion fish`\n\ncomplete -c breakwatch -f\n";
  for (const DocOption& option : TheProgram(model).options) text += OptionLine(model, option, "");
  for (const DocCommand& command : model.commands) {
    const std::string seen = Seen(model, command);
    const std::string below = command.name.empty() ? "" : command.name + " ";
    for (const std::string& word : command.commands) {
      for (const DocCommand& child : model.commands) {
        if (child.name == below + word) text += Line(seen) + " -a " + word + " -d " + FishQuoted(child.doc) + "\n";
      }
    }
    if (command.name.empty()) continue;
    for (const DocOption& option : command.options) text += OptionLine(model, option, seen);
    for (const DocOption& argument : command.arguments) {
      if (OfferOf(argument) == Offer::kFiles) text += Line(seen) + " -F\n";
      if (OfferOf(argument) == Offer::kKeys || OfferOf(argument) == Offer::kValues)
        text += Line(seen) + Values(model, argument) + "\n";
    }
  }
  for (const DocOption& setting : model.settings) {
    // Every command takes every setting: offered once a letter is typed.
    text += OptionLine(model, setting, "not string match -qr -- \"^--?\\$\" (commandline -ct)");
  }
  return text;
}

}  // namespace breakwatch::commands
