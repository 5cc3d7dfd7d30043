// FamilyTable: the rules of config/families.yaml.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "breakwatch/core/family.h"
#include "breakwatch/core/result.h"

namespace breakwatch::hub {

// The text of config/families.yaml at build time.
std::string_view BuiltInFamilies();

class FamilyTable {
 public:
  // Loads a file, or the built-in table if `path` is empty. Error: kConfig with path and line.
  static Result<FamilyTable> Load(const std::string& path);
  static Result<FamilyTable> Parse(const std::string& yaml, const std::string& name);

  // In the order of families.yaml: deciding tag, model type, hinting tag, architecture.
  Family Find(std::string_view task, std::string_view model_type, const std::vector<std::string>& architectures) const;

  const std::map<std::string, Family, std::less<>>& pipeline_tags() const { return tags_; }
  // The content of such a repository, which is not a model. nullopt if the library is not in the table.
  std::optional<std::string> UnsupportedLibrary(std::string_view library) const;

 private:
  std::optional<Family> ByModelType(std::string_view model_type) const;
  std::optional<Family> ByArchitecture(const std::vector<std::string>& architectures) const;

  std::map<std::string, Family, std::less<>> tags_;
  std::set<std::string, std::less<>> hints_;  // tags that are only hints
  std::map<std::string, Family, std::less<>> model_types_;
  std::vector<std::pair<std::string, Family>> patterns_;
  std::vector<std::pair<std::string, Family>> suffixes_;
  std::map<std::string, std::string, std::less<>> unsupported_libraries_;
};

}  // namespace breakwatch::hub
