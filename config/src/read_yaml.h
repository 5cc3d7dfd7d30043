// A YAML file into settings, with every problem's line and column.
#pragma once

#include <map>
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

// Applies a file; what cannot be applied becomes a problem.
void ReadYamlFile(const std::string& path, FileReading reading);
// The same on a text; `name` is put before each problem.
void ReadYaml(const std::string& name, const std::string& text, FileReading reading);
// "[a, b]" as a flow list of texts; nothing when it is none.
bool ParseFlowList(const std::string& text, std::vector<std::string>& items);

}  // namespace breakwatch::config
