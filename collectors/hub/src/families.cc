#include "families.h"

#include <fnmatch.h>
#include <yaml-cpp/yaml.h>

#include <functional>

#include "breakwatch/core/text.h"
#include "files.h"

namespace breakwatch::hub {
namespace {

// Thrown inside this file only, as yaml-cpp's own errors are, and caught in Parse.
[[noreturn]] void Refuse(const YAML::Node& node, const std::string& what) { throw YAML::Exception(node.Mark(), what); }

Family FamilyOf(const YAML::Node& node) {
  const auto name = node.as<std::string>();
  const auto family = ParseFamily(name);
  if (family) return *family;
  std::vector<std::string> names;
  for (const Family known : AllFamilies()) names.emplace_back(FamilyName(known));
  const auto nearest = NearestName(name, names);
  Refuse(node, "unknown family \"" + name + "\"" + (nearest ? ", did you mean \"" + *nearest + "\"?" : ""));
}

using Add = std::function<void(const std::string& name, Family family)>;

// family: [name, ...]
void ReadLists(const YAML::Node& node, const Add& add) {
  for (const auto& entry : node) {
    const Family family = FamilyOf(entry.first);
    for (const auto& name : entry.second) add(name.as<std::string>(), family);
  }
}

// - {family: ..., <key>: [name, ...]}
void ReadOrdered(const YAML::Node& node, const std::string& key, const Add& add) {
  for (const auto& entry : node) {
    const Family family = FamilyOf(entry["family"]);
    for (const auto& name : entry[key]) add(name.as<std::string>(), family);
  }
}

}  // namespace

Result<FamilyTable> FamilyTable::Load(const std::string& path) {
  if (path.empty()) return Parse(std::string(BuiltInFamilies()), "built-in families.yaml");
  constexpr std::size_t kMaxBytes = 1u << 20;
  Result<std::string> text = ReadFile(path, kMaxBytes);
  if (!text) return Error{ErrorCode::kConfig, text.error().message};
  return Parse(*text, path);
}

Result<FamilyTable> FamilyTable::Parse(const std::string& yaml, const std::string& name) {
  FamilyTable table;
  const std::map<std::string, std::function<void(const YAML::Node&)>> sections = {
      {"pipeline_tags",
       [&](const YAML::Node& node) { ReadLists(node, [&](const auto& tag, Family f) { table.tags_[tag] = f; }); }},
      {"hints",
       [&](const YAML::Node& node) {
         for (const auto& tag : node) table.hints_.insert(tag.as<std::string>());
       }},
      {"model_types",
       [&](const YAML::Node& node) {
         ReadLists(node, [&](const auto& type, Family f) { table.model_types_[type] = f; });
       }},
      {"model_type_patterns",
       [&](const YAML::Node& node) {
         ReadOrdered(node, "patterns", [&](const auto& text, Family f) { table.patterns_.emplace_back(text, f); });
       }},
      {"architecture_suffixes",
       [&](const YAML::Node& node) {
         ReadOrdered(node, "suffixes", [&](const auto& text, Family f) { table.suffixes_.emplace_back(text, f); });
       }},
      {"unsupported_libraries",
       [&](const YAML::Node& node) {
         for (const auto& entry : node) {
           table.unsupported_libraries_[entry.first.as<std::string>()] = entry.second.as<std::string>();
         }
       }},
  };
  try {
    const YAML::Node root = YAML::Load(yaml);
    if (!root.IsMap()) Refuse(root, "expected a mapping of families");
    for (const auto& entry : root) {
      const auto section = sections.find(entry.first.as<std::string>());
      if (section == sections.end()) Refuse(entry.first, "unknown key \"" + entry.first.as<std::string>() + "\"");
      section->second(entry.second);
    }
  } catch (const YAML::Exception& error) {
    return Error{ErrorCode::kConfig, name + ": line " + std::to_string(error.mark.line + 1) + ": " + error.msg};
  }
  return table;
}

std::optional<std::string> FamilyTable::UnsupportedLibrary(std::string_view library) const {
  const auto found = unsupported_libraries_.find(library);
  if (found == unsupported_libraries_.end()) return std::nullopt;
  return found->second;
}

std::optional<Family> FamilyTable::ByModelType(std::string_view model_type) const {
  if (model_type.empty()) return std::nullopt;
  if (const auto exact = model_types_.find(model_type); exact != model_types_.end()) return exact->second;
  const std::string text(model_type);
  for (const auto& [pattern, family] : patterns_) {
    if (fnmatch(pattern.c_str(), text.c_str(), 0) == 0) return family;
  }
  return std::nullopt;
}

std::optional<Family> FamilyTable::ByArchitecture(const std::vector<std::string>& architectures) const {
  for (const std::string& architecture : architectures) {
    for (const auto& [suffix, family] : suffixes_) {
      if (architecture.ends_with(suffix)) return family;
    }
  }
  return std::nullopt;
}

Family FamilyTable::Find(std::string_view task, std::string_view model_type,
                         const std::vector<std::string>& architectures) const {
  const auto tag = tags_.find(task);
  const bool hint = tag != tags_.end() && hints_.contains(task);
  if (tag != tags_.end() && !hint) return tag->second;
  if (const auto family = ByModelType(model_type)) return *family;
  if (hint) return tag->second;
  return ByArchitecture(architectures).value_or(Family::kUnknown);
}

}  // namespace breakwatch::hub
