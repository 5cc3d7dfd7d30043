// `breakwatch discover`: lists the modules that a script calls, with the selector that captures each.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/selector.h"
#include "breakwatch/core/text.h"
#include "commands.h"

namespace breakwatch::commands {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string Text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? ToUtf8(found->get<std::string>()) : "";
}

std::int64_t Number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string SelectorOf(const DiscoverRequest& request, const std::string& hash) {
  Selector selector;
  selector.kind = Selector::Kind::kScript;
  selector.file = request.script;
  selector.hash = hash;
  selector.arguments = request.arguments;
  return SelectorText(selector);
}

// The path as a user would type it: relative to the working directory if it is below.
std::string Shown(const std::string& file) {
  std::error_code error;
  const fs::path relative = fs::path(file).lexically_relative(fs::current_path(error));
  return error || relative.empty() || *relative.begin() == ".." ? file : relative.string();
}

report::Table TableOf(const json& found, const DiscoverRequest& request) {
  report::Table table;
  table.columns = {{"class", "CLASS"},
                   {"location", "CALLED AT"},
                   {"parameters", "PARAMETERS", true},
                   {"hash", "HASH"},
                   {"calls", "CALLS", true},
                   {"instances", "INSTANCES", true},
                   {"depth", request.max_depth > 0 ? "DEPTH" : "", true},
                   {"selector", ""}};
  table.when_empty = "the script called no torch.nn.Module";
  for (const json& module : found["modules"]) {
    if (!module.is_object()) continue;
    table.rows.push_back(
        {Text(module, "class"), Shown(Text(module, "file")) + ":" + std::to_string(Number(module, "line")),
         Number(module, "parameters"), Text(module, "hash"), Number(module, "calls"), Number(module, "instances"),
         Number(module, "depth"), SelectorOf(request, Text(module, "hash"))});
  }
  return table;
}

void AddSelectors(json& found, const DiscoverRequest& request) {
  for (json& module : found["modules"]) {
    if (module.is_object()) module["selector"] = SelectorOf(request, Text(module, "hash"));
  }
}

void PrintText(const App& app, const json& found, const DiscoverRequest& request) {
  const report::Table table = TableOf(found, request);
  Print(app, report::Render(table, report::Format::kText, StyleOf(app)));
  if (const auto more = Number(found, "left_out"); more > 0)
    Print(app, "and " + std::to_string(more) + " more calls of other modules\n");
  if (table.rows.empty()) return;
  Print(app, "\nNext      breakwatch sweep --allow-factories --model '" + std::get<std::string>(table.rows[0].back()) +
                 "'\n");
}

Result<json> Discover(App& app, const DiscoverRequest& request) {
  std::error_code error;
  if (!fs::is_regular_file(request.script, error)) {
    return Error{ErrorCode::kUsage, request.script + ": no such file"};
  }
  app.own_folders.push_back(fs::absolute(request.script).parent_path().string());
  auto line = app.discover(app.settings(), request);
  if (!line) return line.error();
  json found = json::parse(*line, nullptr, /*allow_exceptions=*/false);
  if (!found.is_object() || !found["modules"].is_array())
    return Error{ErrorCode::kInvalid, "the worker sent an invalid list of modules"};
  return found;
}

}  // namespace

int RunDiscover(App& app, const DiscoverRequest& request) {
  auto found = Discover(app, request);
  if (!found) return Fail(app, found.error());
  if (app.json) {
    AddSelectors(*found, request);
    Print(app, JsonDocument(*found, 2));
  } else {
    PrintText(app, *found, request);
  }
  const std::string ended = Text(*found, "ended");
  if (ended.empty()) return kExitOk;
  Complain(app, "the script ended early: " + ended + "\n" + Text(*found, "output_tail") + Text(*found, "error"));
  return kExitFailure;
}

Result<std::vector<std::string>> ResolveSelectors(App& app, const std::vector<std::string>& models) {
  std::vector<std::string> resolved;
  for (const std::string& id : models) {
    if (!IsSelector(id)) {
      resolved.push_back(id);
      continue;
    }
    const auto selector = ParseSelector(id);
    if (!selector) return selector.error();
    if (!app.settings().capture.allow_factories) return RefuseOwnCode(id).error();
    resolved.push_back(id);
    if (selector->kind != Selector::Kind::kScript) continue;
    app.own_folders.push_back(fs::absolute(selector->file).parent_path().string());
    if (!selector->hash.empty()) continue;
    // Each outermost module is a separate model, identified by its hash.
    DiscoverRequest request;
    request.script = selector->file;
    request.arguments = selector->arguments;
    const auto found = Discover(app, request);
    if (!found) return found.error();
    resolved.pop_back();
    for (const json& module : (*found)["modules"]) {
      if (module.is_object()) resolved.push_back(SelectorOf(request, Text(module, "hash")));
    }
    if ((*found)["modules"].empty()) {
      const std::string ended = Text(*found, "ended");
      return Error{ErrorCode::kUsage,
                   selector->file + " called no torch.nn.Module" + (ended.empty() ? "" : ": " + ended)};
    }
  }
  return resolved;
}

}  // namespace breakwatch::commands
