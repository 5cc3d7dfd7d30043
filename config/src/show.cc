#include "breakwatch/config/show.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "breakwatch/config/keys.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch::config {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) { return JsonDocument(json, 2); }

// Numbers and booleans as JSON values, durations and sizes as text, secrets hidden.
Json ValueJson(const Key& key, const Settings& settings) {
  const std::string text = ValueText(key, settings);
  if (text == "<secret>") return text;
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json(text) : value;
}

std::vector<const Key*> Below(std::string_view name) {
  std::vector<const Key*> keys;
  for (const Key& key : Keys()) {
    const bool inside = key.name.starts_with(name) && key.name.substr(name.size()).starts_with(".");
    if (name.empty() || key.name == name || inside) keys.push_back(&key);
  }
  return keys;
}

Result<std::vector<const Key*>> Find(std::string_view name) {
  auto keys = Below(name);
  if (!keys.empty()) return keys;
  std::vector<std::string> names;
  for (const Key& key : Keys()) names.push_back(key.name);
  const auto near = NearestName(name, names);
  const std::string hint =
      near ? "; did you mean \"" + *near + "\"?" : "; `breakwatch config explain` lists all settings";
  return Error{ErrorCode::kUsage, "unknown setting \"" + Truncate(ToUtf8(name), 120) + "\"" + hint};
}

std::string Padded(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

bool DocListsValues(const Key& key) {
  return !key.allowed.empty() && key.doc.find(key.allowed.back()) != std::string::npos;
}

// Does not repeat the values that the doc lists.
std::string ShortTypeName(const Key& key) {
  if (!DocListsValues(key)) return TypeName(key);
  return std::holds_alternative<FieldOf<std::vector<std::string>>>(key.field) ? "a list of these values"
                                                                              : "one of these values";
}

std::string FlagText(const Key& key) { return key.is_secret ? "none, because it is a secret" : "--" + key.name; }

// "hub.top" with open section "hub": closes and opens sections until the key's parent is the current one.
void OpenSections(const std::string& name, std::vector<std::string>& open, std::string& out) {
  std::vector<std::string> path;
  for (std::size_t begin = 0, dot; (dot = name.find('.', begin)) != std::string::npos; begin = dot + 1) {
    path.push_back(name.substr(begin, dot - begin));
  }
  std::size_t common = 0;
  while (common < std::min(open.size(), path.size()) && open[common] == path[common]) ++common;
  open.resize(common);
  for (; common < path.size(); ++common) {
    out += std::string(common == 0 ? "\n" : "") + std::string(2 * common, ' ') + path[common] + ":\n";
    open.push_back(path[common]);
  }
}

}  // namespace

std::string Origin::Text() const {
  switch (kind) {
    case Kind::kDefault:
      return place.empty() ? "default" : "default, " + place;
    case Kind::kFile:
      return "file " + place;
    case Kind::kEnvironment:
      return "environment " + place;
    case Kind::kFlag:
      return "flag " + place;
  }
  return place;
}

std::string ShowText(const Loaded& loaded) {
  std::size_t name_width = 0, value_width = 0;
  for (const Key& key : Keys()) {
    name_width = std::max(name_width, key.name.size());
    value_width = std::max(value_width, std::min<std::size_t>(ValueText(key, loaded.settings).size(), 44));
  }
  std::string out;
  for (const Key& key : Keys()) {
    out += Padded(key.name, name_width) + "  " + Padded(ValueText(key, loaded.settings), value_width) + "  " +
           loaded.origins.at(key.name).Text() + "\n";
  }
  return out;
}

std::string ShowJson(const Loaded& loaded) {
  Json settings = Json::array();
  for (const Key& key : Keys()) {
    settings.push_back({{"key", key.name},
                        {"value", ValueJson(key, loaded.settings)},
                        {"default", ValueJson(key, Settings{})},
                        {"origin", loaded.origins.at(key.name).Text()},
                        {"type", TypeName(key)}});
  }
  return Dump({{"settings", settings}, {"files", loaded.files}, {"warnings", loaded.warnings}});
}

std::string CheckText(const Loaded& loaded) {
  std::string out = "ok:";
  for (const std::string& file : loaded.files) out += " " + file;
  const auto changed = std::count_if(loaded.origins.begin(), loaded.origins.end(),
                                     [](const auto& origin) { return origin.second.kind != Origin::Kind::kDefault; });
  out += (loaded.files.empty() ? " no file, " : ", ") + std::to_string(changed) + " of " +
         std::to_string(Keys().size()) + " settings differ from the default\n";
  for (const std::string& warning : loaded.warnings) out += "warning: " + warning + "\n";
  return out;
}

Result<std::string> ExplainText(std::string_view key_or_prefix) {
  const auto keys = Find(key_or_prefix);
  if (!keys) return keys.error();
  std::string out;
  for (const Key* key : *keys) {
    out += std::string(out.empty() ? "" : "\n") + key->name + "\n  " + key->doc + "\n";
    out += "  type         " + ShortTypeName(*key) + "\n";
    out += "  default      " + ValueText(*key, Settings{}) + "\n";
    out += "  environment  " + EnvironmentName(*key) + "\n";
    out += "  flag         " + FlagText(*key) + "\n";
    out += std::string("  changes      take effect after a ") + (key->restart ? "restart" : "reload") + "\n";
  }
  return out;
}

Result<std::string> ExplainJson(std::string_view key_or_prefix) {
  const auto keys = Find(key_or_prefix);
  if (!keys) return keys.error();
  Json list = Json::array();
  for (const Key* key : *keys) {
    list.push_back({{"key", key->name},
                    {"doc", key->doc},
                    {"type", TypeName(*key)},
                    {"default", ValueJson(*key, Settings{})},
                    {"allowed", key->allowed},
                    {"environment", EnvironmentName(*key)},
                    {"flag", key->is_secret ? Json(nullptr) : Json("--" + key->name)},
                    {"secret", key->is_secret},
                    {"restart", key->restart}});
  }
  return Dump(list);
}

std::string ExampleYaml() {
  std::string out =
      "# Every setting of breakwatch with its default. Durations: 500ms, 30s, 5m, 24h. Sizes: 64KiB, 6GiB.\n"
      "# The setting `a.b` is also the flag --a.b and the environment variable BREAKWATCH_A_B. A flag overrides a\n"
      "# variable, a variable overrides a file. Relative paths start at the working directory.\n";
  std::vector<std::string> open;
  for (const Key& key : Keys()) {
    if (key.is_secret) continue;
    OpenSections(key.name, open, out);
    const std::string indent(2 * open.size(), ' ');
    const bool lists_values = !key.allowed.empty() && !DocListsValues(key);
    out += indent + "# " + key.doc + (lists_values ? " One of " + TypeName(key) + "." : "") + "\n";
    out += indent + key.name.substr(key.name.rfind('.') + 1) + ": " + ValueText(key, Settings{}) + "\n";
  }
  return out;
}

}  // namespace breakwatch::config
