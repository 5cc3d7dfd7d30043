// Man pages, in the macros of man(7).
#include <cctype>

#include "breakwatch/config/keys.h"
#include "docs_model.h"

namespace breakwatch::commands {
namespace {

// As text of a page: no character has a meaning for the formatter.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";  // else it is a hyphen, which cannot be copied into a shell
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '"') {
      out += "\\(dq";
    } else {
      out += c;
    }
  }
  return out;
}

// A paragraph: one line of the source for each sentence.
std::string Text(std::string_view text) {
  std::string out = Escaped(text);
  for (std::size_t at = 0; (at = out.find(". ", at)) != std::string::npos;) out[at + 1] = '\n';
  if (out.starts_with('.')) out.insert(0, "\\&");
  for (std::size_t at = 0; (at = out.find("\n.", at)) != std::string::npos;) out.insert(at + 1, "\\&");
  return out + "\n";
}

// Lines as they are.
std::string Verbatim(std::string_view text) {
  std::string out = ".nf\n";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    out += line.empty() ? ".sp\n" : "\\&" + Escaped(line) + "\n";
  }
  return out + ".fi\n";
}

std::string Title(const std::string& page, int section, const std::string& version, const std::string& date) {
  std::string upper = page;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return ".TH \"" + Escaped(upper) + "\" " + std::to_string(section) + " \"" + date + "\" \"breakwatch " + version +
         "\" \"breakwatch\"\n";
}

std::string Section(std::string_view name) { return ".SH " + std::string(name) + "\n"; }

std::string Bold(std::string_view text) { return "\\fB" + Escaped(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + Escaped(text) + "\\fR"; }

std::string PageOf(const std::string& command) {
  std::string page = "breakwatch" + (command.empty() ? "" : " " + command);
  for (char& c : page) c = c == ' ' ? '-' : c;
  return page;
}

std::string Reference(const std::string& page, int section) { return Bold(page) + "(" + std::to_string(section) + ")"; }

std::string OptionItem(const DocOption& option) {
  std::string item = ".TP\n";
  for (std::size_t i = 0; i < option.names.size(); ++i) item += (i == 0 ? "" : ", ") + Bold(option.names[i]);
  if (!option.value.empty()) item += " " + Italic("VALUE");
  item += "\n" + Text(option.doc + ".");
  if (!option.values.empty() && option.doc.find(option.values.back()) == std::string::npos) {
    std::string values;
    for (const std::string& value : option.values) values += (values.empty() ? "" : ", ") + value;
    item += Text("One of " + values + ".");
  }
  return item;
}

std::string Synopsis(const DocCommand& command) {
  std::string text = Bold("breakwatch" + (command.name.empty() ? "" : " " + command.name));
  if (!command.commands.empty()) return text + " " + Italic("COMMAND") + " [" + Italic("OPTION") + "]...\n";
  text += " [" + Italic("OPTION") + "]...";
  for (const DocOption& argument : command.arguments)
    text += " [" + Italic(argument.names.front()) + "]" + (argument.is_list ? "..." : "");
  return text + "\n";
}

std::string Commands(const DocModel& model, const DocCommand& command) {
  std::string text = Section("COMMANDS");
  const std::string below = command.name.empty() ? "" : command.name + " ";
  for (const std::string& word : command.commands) {
    for (const DocCommand& child : model.commands) {
      if (child.name == below + word) text += ".TP\n" + Reference(PageOf(child.name), 1) + "\n" + Text(child.doc + ".");
    }
  }
  return text;
}

// What `--help` prints below the options.
std::string HelpSections(const DocCommand& command) {
  if (command.help == nullptr) return {};
  std::string text;
  if (!command.help->settings.empty()) {
    text += Section("SETTINGS") + "Each is a flag, an environment variable and a key of the settings file, see\n" +
            Reference("breakwatch.yaml", 5) + ".\n";
    for (const std::string_view name : command.help->settings) {
      const config::Key* key = config::FindKey(name);
      text += ".TP\n" + Bold(name) + "\n" + Text(key == nullptr ? "" : key->doc);
    }
  }
  if (command.help->filters) text += Section("FILTERS") + Verbatim(FilterText(*command.help));
  if (!command.help->note.empty()) text += Section("NOTES") + Text(command.help->note);
  text += Section("EXAMPLES");
  for (const Example& example : command.help->examples)
    text += ".TP\n" + Bold(ExampleLine(example)) + "\n" + Text(std::string(example.result) + ".");
  return text + Section("EXIT STATUS") + Text(ExitCodesText(*command.help));
}

}  // namespace

std::string ManPage(const DocModel& model, const DocCommand& command, const std::string& version,
                    const std::string& date) {
  const std::string page = PageOf(command.name);
  std::string text = Title(page, 1, version, date) + Section("NAME") + Escaped(page) + " \\- " + Escaped(command.doc) +
                     "\n" + Section("SYNOPSIS") + Synopsis(command);
  if (!command.commands.empty()) text += Commands(model, command);
  if (!command.arguments.empty()) text += Section("ARGUMENTS");
  for (const DocOption& argument : command.arguments) text += OptionItem(argument);
  if (!command.options.empty()) text += Section("OPTIONS");
  for (const DocOption& option : command.options) text += OptionItem(option);
  text += HelpSections(command);
  text += Section("SEE ALSO");
  if (!command.name.empty()) text += Reference("breakwatch", 1) + ",\n";
  return text + Reference("breakwatch.yaml", 5) + "\n";
}

std::string SettingsPage(const std::string& version, const std::string& date) {
  std::string text =
      Title("breakwatch.yaml", 5, version, date) + Section("NAME") + "breakwatch.yaml \\- settings of breakwatch\n" +
      Section("DESCRIPTION") +
      Text(
          "A setting has one key, and is read from four places: a flag of the command line, an environment "
          "variable, a YAML file, the default. The first that has it counts. Files are named by "
          "--config.file, which can be repeated, or by BREAKWATCH_CONFIG_FILE; later files override "
          "earlier ones. The Debian package's units read /etc/breakwatch/breakwatch.yaml.") +
      Text(
          "Durations are written 500ms, 30s, 5m, 24h or 7d, sizes 64KiB or 6GiB. Paths are relative to the "
          "working directory. Unknown keys and wrong values are refused.");
  std::string section;
  for (const config::Key& key : config::Keys()) {
    const std::string first = key.name.substr(0, key.name.find('.'));
    if (first != section) text += Section("\"SETTINGS: " + Escaped(section = first) + "\"");
    text += ".TP\n" + Bold(key.name) + " (" + Escaped(config::TypeName(key)) + ")\n" + Text(key.doc) + ".br\n";
    if (!key.is_secret) text += Text("Default: " + config::ValueText(key, config::Settings{})) + ".br\n";
    text += Text((key.is_secret ? "" : "Flag --" + key.name + ", variable ") +
                 std::string(key.is_secret ? "Variable " : "") + config::EnvironmentName(key) + "." +
                 (key.restart ? " A change needs a restart." : ""));
  }
  return text + Section("EXAMPLES") +
         Verbatim("exporters:\n  pushgateway: {url: \"http://gateway:9091\"}\n  loki: {url: \"http://loki:3100\"}") +
         Section("SEE ALSO") + Reference("breakwatch", 1) + ",\n" + Reference("breakwatch-config-explain", 1) + "\n";
}

}  // namespace breakwatch::commands
