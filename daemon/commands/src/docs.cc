// `breakwatch docs`: man pages and completions of shells, for packages; not in the help.
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "docs_model.h"

namespace breakwatch::commands {
namespace {

using Json = nlohmann::ordered_json;

// The day on the pages: of SOURCE_DATE_EPOCH, by which packages are built in the same way twice, else today.
std::string PageDate(const App& app) {
  SystemTime time = app.clock->Now();
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH"); epoch != nullptr)
    time = SystemTime(std::chrono::seconds(std::strtoll(epoch, nullptr, 10)));
  return FormatTime(time).substr(0, 10);
}

std::string FileOf(const DocCommand& command) {
  std::string name = "breakwatch" + (command.name.empty() ? "" : "-" + command.name) + ".1";
  for (char& c : name) c = c == ' ' ? '-' : c;
  return name;
}

int WriteManPages(App& app, const CommandLine& line, const std::string& dir) {
  const DocModel model = DescribeCommandLine(line);
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  const std::string date = PageDate(app), version = app.version;
  for (const DocCommand& command : model.commands) {
    const auto wrote = WriteFile(dir + "/" + FileOf(command), ManPage(model, command, version, date));
    if (!wrote) return Fail(app, wrote.error());
  }
  const auto wrote = WriteFile(dir + "/breakwatch.yaml.5", SettingsPage(version, date));
  return wrote ? kExitOk : Fail(app, wrote.error());
}

int PrintCompletion(App& app, const CommandLine& line, const std::string& shell) {
  const DocModel model = DescribeCommandLine(line);
  Print(app, shell == "bash" ? BashCompletion(model) : shell == "zsh" ? ZshCompletion(model) : FishCompletion(model));
  return kExitOk;
}

// For the test that runs them.
int PrintExamples(App& app) {
  Json list = Json::array();
  for (const CommandHelp& help : AllCommandHelp()) {
    for (const Example& example : help.examples)
      list.push_back({{"command", help.name}, {"line", ExampleLine(example)}, {"result", example.result}});
  }
  Print(app, JsonDocument(list, 1));
  return kExitOk;
}

}  // namespace

void AddDocs(CommandLine& line) {
  CLI::App* docs = AddParent(line, "docs", "Print what packages install: man pages, completions, examples");
  docs->group("");
  auto dir = std::make_shared<std::string>();
  auto* man = AddNested(line, docs, "man", "Write the man pages to a folder",
                        [&line, dir](App& app) { return WriteManPages(app, line, *dir); });
  man->add_option("dir", *dir, "Folder")->required();
  auto shell = std::make_shared<std::string>();
  auto* completion = AddNested(line, docs, "completion", "Print the completion of a shell",
                               [&line, shell](App& app) { return PrintCompletion(app, line, *shell); });
  completion->add_option("shell", *shell, "Shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  AddNested(line, docs, "examples", "Print the examples of all commands as JSON", PrintExamples);
}

}  // namespace breakwatch::commands
