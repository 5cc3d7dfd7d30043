// The completion of bash: a function with tables of words, which needs nothing but bash.
#include <algorithm>
#include <map>

#include "docs_shells.h"

namespace breakwatch::commands {
namespace {

constexpr const char* kFunction = R"(
# The command that the words before the cursor name.
_breakwatch_command() {
  local i path=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    _breakwatch_takes_value "$path" "${COMP_WORDS[i - 1]}" && continue
    _breakwatch_is_command "${path:+$path }${COMP_WORDS[i]}" && path="${path:+$path }${COMP_WORDS[i]}"
  done
  REPLY=$path
}

_breakwatch() {
  local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} REPLY path
  # bash splits --key=value into three words.
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $option == "=" ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  _breakwatch_command
  path=$REPLY
  COMPREPLY=()
  if [[ $option == -* ]] && _breakwatch_values "$path" "$option"; then
    if [[ $REPLY == "<files>" ]]; then
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
    fi
    # Of a list, the part behind the last comma.
    local before=""
    [[ $cur == *,* ]] && before="${cur%,*}," && cur=${cur##*,}
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$REPLY" -- "$cur")
    return
  fi
  [[ $option == -* ]] && _breakwatch_takes_value "$path" "$option" && return
  if [[ $cur == -* ]]; then
    _breakwatch_options "$path"
    # Every command takes every setting: offered once a letter is typed.
    [[ $cur == --?* ]] && REPLY+=" $_breakwatch_settings"
    mapfile -t COMPREPLY < <(compgen -W "$REPLY" -- "$cur")
    return
  fi
  _breakwatch_arguments "$path"
  if [[ $REPLY == "<files>" ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -W "$REPLY" -- "$cur")
  fi
}

complete -F _breakwatch breakwatch
)";

// One branch of a case: patterns, and what the function sets.
using Branches = std::map<std::string, std::vector<std::string>>;  // result -> patterns

std::string Case(const std::string& subject, const Branches& branches) {
  std::string text = "  case " + subject + " in\n";
  for (const auto& [result, patterns] : branches) {
    text += "    " + Words(patterns, " | ") + ") REPLY=" + Quoted(result) + " ;;\n";
  }
  return text + "    *) return 1 ;;\n  esac\n";
}

std::string ResultFor(const DocModel& model, const DocOption& option) {
  switch (OfferOf(option)) {
    case Offer::kValues:
      return Words(option.values);
    case Offer::kFiles:
      return "<files>";
    case Offer::kKeys:
      return Words(SettingKeys(model));
    case Offer::kNothing:
      break;
  }
  return {};
}

std::vector<std::string> NamesOf(const std::vector<DocOption>& options) {
  std::vector<std::string> names;
  for (const DocOption& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// Patterns of the options of one command; of the program and the settings: of every command.
void AddPatterns(const DocModel& model, const std::vector<DocOption>& options, const std::string& command,
                 Branches& values, std::vector<std::string>& taking) {
  for (const DocOption& option : options) {
    for (const std::string& name : option.names) {
      const std::string pattern = command.empty() ? "*\":" + name + "\"" : "\"" + command + ":" + name + "\"";
      if (const std::string result = ResultFor(model, option); !result.empty()) values[result].push_back(pattern);
      if (!option.value.empty()) taking.push_back(pattern);
    }
  }
}

}  // namespace

std::string BashCompletion(const DocModel& model) {
  Branches commands, options, arguments, values;
  std::vector<std::string> taking, known;
  // Those of a command come first: a case takes the first pattern that matches.
  for (const DocCommand& command : model.commands) {
    const std::string pattern = "\"" + command.name + "\"";
    if (!command.name.empty())
      known.push_back(pattern), AddPatterns(model, command.options, command.name, values, taking);
    std::vector<std::string> names = NamesOf(command.options);
    if (!command.name.empty()) {
      const auto common = NamesOf(TheProgram(model).options);
      for (const std::string& name : common) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
    options[Words(names)].push_back(pattern);
    std::string offered = Words(command.commands);
    for (const DocOption& argument : command.arguments) {
      if (offered.empty()) offered = ResultFor(model, argument);
    }
    arguments[offered].push_back(pattern);
  }
  Branches of_all;
  std::vector<std::string> all_taking;
  AddPatterns(model, TheProgram(model).options, "", of_all, all_taking);
  AddPatterns(model, model.settings, "", of_all, all_taking);
  std::string text = "# bash completion for breakwatch; made by `breakwatch docs completion bash`\n\n";
  text += "_breakwatch_is_command() {\n  case $1 in\n    " + Words(known, " | ") +
          ") return 0 ;;\n  esac\n  return 1\n}\n\n";
  text +=
      "# Whether an option of a command is followed by a value.\n_breakwatch_takes_value() {\n  case \"$1:$2\" in\n   "
      " " +
      Words(taking, " | ") + ") return 0 ;;\n    " + Words(all_taking, " | ") +
      ") return 0 ;;\n  esac\n  return 1\n}\n\n";
  text += "# The values of an option of a command.\n_breakwatch_values() {\n" + Case("\"$1:$2\"", values);
  text.replace(text.rfind("    *) return 1 ;;"), 18, "    *) _breakwatch_common_values \"$1:$2\" ;;");
  text += "}\n\n_breakwatch_common_values() {\n" + Case("\"$1\"", of_all) + "}\n\n";
  text += "_breakwatch_options() {\n" + Case("$1", options) + "}\n\n_breakwatch_arguments() {\n" +
          Case("$1", arguments) + "}\n\n";
  return text + "_breakwatch_settings=" + Quoted(Words(NamesOf(model.settings))) + "\n" + kFunction;
}

}  // namespace breakwatch::commands
