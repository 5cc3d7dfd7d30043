#include "docs_model.h"

#include <algorithm>

#include "breakwatch/config/keys.h"

namespace breakwatch::commands {
namespace {

// "TEXT:{text,md}" of a check against a set.
std::vector<std::string> ValuesInType(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

// "Output format: text, md, csv (a row per model) or json".
std::vector<std::string> ValuesInDoc(std::string doc) {
  constexpr std::string_view kStart = "Output format: ";
  if (!doc.starts_with(kStart)) return {};
  doc.erase(0, kStart.size());
  for (std::size_t open; (open = doc.find(" (")) != std::string::npos;) {
    const std::size_t close = doc.find(')', open);
    doc.erase(open, close == std::string::npos ? close : close - open + 1);
  }
  for (std::size_t at; (at = doc.find(" or ")) != std::string::npos;) doc.replace(at, 4, ", ");
  std::vector<std::string> values;
  for (const std::string& part : CLI::detail::split(doc, ',')) values.push_back(CLI::detail::trim_copy(part));
  return values;
}

const std::vector<std::string> kBooleans = {"true", "false"};

DocOption SettingFlag(const config::Flag& flag) {
  const config::Key& key = *config::FindKey(flag.key);
  DocOption option{.names = {flag.names.front()}, .doc = flag.doc, .value = flag.type, .values = key.allowed};
  if (flag.is_bool) option.values = kBooleans, option.value.clear();
  std::erase(option.values, "");
  option.is_setting = true;
  option.is_list = flag.is_list;
  return option;
}

DocOption Describe(const CLI::Option& from, const CommandLine& line) {
  DocOption option;
  for (const std::string& name : from.get_snames()) option.names.push_back("-" + name);
  for (const std::string& name : from.get_lnames()) option.names.push_back("--" + name);
  if (from.get_positional()) option.names = {from.get_name()};
  option.doc = from.get_description();
  option.values = ValuesInType(from.get_type_name());
  if (option.values.empty()) option.values = ValuesInDoc(option.doc);
  if (from.get_items_expected_max() > 0) option.value = "VALUE";
  option.is_list = from.get_expected_max() > 1;
  const auto key = line.setting_of.find(&from);
  if (key == line.setting_of.end()) return option;
  const DocOption setting = SettingFlag(*std::find_if(
      line.flags.begin(), line.flags.end(), [&](const config::Flag& flag) { return flag.key == key->second; }));
  option.is_list = setting.is_list;
  if (!option.value.empty())
    option.value = setting.value.empty() ? "VALUE" : setting.value, option.values = setting.values;
  return option;
}

void Add(const CLI::App& app, const std::string& name, const CommandLine& line, DocModel& model) {
  DocCommand command;
  command.name = name;
  command.doc = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    DocOption described = Describe(*option, line);
    (option->get_positional() ? command.arguments : command.options).push_back(std::move(described));
  }
  for (const CommandHelp& help : AllCommandHelp()) {
    if (help.name == name) command.help = &help;
  }
  const auto shown = app.get_subcommands([](const CLI::App* child) { return !child->get_group().empty(); });
  for (const CLI::App* child : shown) command.commands.push_back(child->get_name());
  model.commands.push_back(std::move(command));
  for (const CLI::App* child : shown)
    Add(*child, name.empty() ? child->get_name() : name + " " + child->get_name(), line, model);
}

}  // namespace

DocModel DescribeCommandLine(const CommandLine& line) {
  DocModel model;
  for (const config::Flag& flag : line.flags) model.settings.push_back(SettingFlag(flag));
  Add(line.cli, "", line, model);
  return model;
}

}  // namespace breakwatch::commands
