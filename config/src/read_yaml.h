// Reads settings from a YAML file and reports problems with line and column.
#pragma once

#include <yaml-cpp/mark.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/config/settings.h"

namespace breakwatch::config {

inline constexpr std::size_t kMaxFileBytes = 1 << 20;

struct FileReading {
  Settings& settings;
  std::map<std::string, std::string>& places;  // by key: "config.yaml:12:5"
  std::vector<std::string>& problems;          // "config.yaml:12:5: ..."
};

// "config.yaml:12:5"; without a mark, the name alone.
std::string PlaceOf(const std::string& name, const YAML::Mark& mark);
// Applies a file. Values that cannot be applied are added to the problems.
void ReadYamlFile(const std::string& path, FileReading reading);
// The same for a text; `name` precedes each problem.
void ReadYaml(const std::string& name, const std::string& text, FileReading reading);
// The start of a second document, or a character that cannot begin a document. Does not use LoadAll: for such a
// character yaml-cpp 0.7 creates empty documents until memory is exhausted.
std::optional<YAML::Mark> SecondDocument(const std::string& text);
// Parses "[a, b]" as a flow list of texts; false if it is invalid.
bool ParseFlowList(const std::string& text, std::vector<std::string>& items);

}  // namespace breakwatch::config
