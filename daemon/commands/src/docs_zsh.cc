// The completion of zsh: _arguments with the options and their meanings.
#include "docs_shells.h"

namespace breakwatch::commands {
namespace {

// Colons and brackets end the parts of a specification.
std::string Part(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string Action(const DocModel& model, const DocOption& option) {
  switch (OfferOf(option)) {
    case Offer::kValues:
      return option.is_list ? "_sequence compadd - " + Words(option.values) : "(" + Words(option.values) + ")";
    case Offer::kFiles:
      return "_files";
    case Offer::kKeys:
      return "(" + Words(SettingKeys(model)) + ")";
    case Offer::kNothing:
      break;
  }
  return " ";
}

std::string Specification(const DocModel& model, const DocOption& option, const std::string& name) {
  std::string text = (option.is_list ? "*" : "") + name;
  if (!option.value.empty()) text += "=";
  text += "[" + Part(option.doc) + "]";
  if (!option.value.empty()) text += ":" + Part("value") + ":" + Action(model, option);
  return Quoted(text);
}

std::string Specifications(const DocModel& model, const std::vector<DocOption>& options, const std::string& indent) {
  std::string text;
  for (const DocOption& option : options) {
    for (const std::string& name : option.names) text += indent + Specification(model, option, name) + "\n";
  }
  return text;
}

std::string FunctionName(const std::string& command) {
  std::string name = "_breakwatch";
  if (!command.empty()) name += "_" + command;
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : c;
  return name;
}

// A command that has commands.
std::string ParentBody(const DocModel& model, const DocCommand& command) {
  const std::string below = command.name.empty() ? "" : command.name + " ";
  std::string described, branches;
  for (const std::string& word : command.commands) {
    for (const DocCommand& child : model.commands) {
      if (child.name != below + word) continue;
      described += "        " + Quoted(word + ":" + child.doc) + "\n";
      branches += "        " + word + ") " + FunctionName(child.name) + " ;;\n";
    }
  }
  return "  local state line\n  local -a commands\n  _arguments -C -S \\\n    $_breakwatch_common \\\n    "
         "'1:command:->command' "
         "'*::argument:->argument'\n  case $state in\n    command)\n      commands=(\n" +
         described +
         "      )\n      _describe -t commands 'command' commands\n      ;;\n    argument)\n      case $line[1] in\n" +
         branches + "      esac\n      ;;\n  esac\n";
}

std::string LeafBody(const DocModel& model, const DocCommand& command) {
  std::string text = "  local -a own=(\n" + Specifications(model, command.options, "    ");
  for (const DocOption& argument : command.arguments) {
    text += "    " +
            Quoted((argument.is_list ? "*:" : ":") + Part(argument.names.front()) + ":" + Action(model, argument)) +
            "\n";
  }
  text += "  )\n";
  // Every command takes every setting: offered once a letter is typed.
  return text +
         "  [[ $PREFIX == --?* || $words[CURRENT-1] == --*[._]* ]] && own+=($_breakwatch_settings)\n"
         "  _arguments -S $own $_breakwatch_common\n";
}

}  // namespace

std::string ZshCompletion(const DocModel& model) {
  std::string text =
      "#compdef breakwatch\n# zsh completion for breakwatch; made by `breakwatch docs completion zsh`\n\n";
  text += "typeset -ga _breakwatch_common _breakwatch_settings\n_breakwatch_common=(\n" +
          Specifications(model, TheProgram(model).options, "  ") + ")\n_breakwatch_settings=(\n" +
          Specifications(model, model.settings, "  ") + ")\n\n";
  for (const DocCommand& command : model.commands) {
    text += FunctionName(command.name) + "() {\n" +
            (command.commands.empty() ? LeafBody(model, command) : ParentBody(model, command)) + "}\n\n";
  }
  return text + "_breakwatch \"$@\"\n";
}

}  // namespace breakwatch::commands
