// Loading settings: flag > environment > file (later wins) > default. Invalid settings are refused, never repaired.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "breakwatch/config/settings.h"
#include "breakwatch/core/result.h"

namespace breakwatch::config {

struct Sources {
  std::vector<std::string> files;  // --config.file, later wins; empty: BREAKWATCH_CONFIG_FILE (with commas), if set
  std::map<std::string, std::string> environment;                       // whole or only BREAKWATCH_*
  std::vector<std::pair<std::string, std::vector<std::string>>> flags;  // key name -> values as given
};

// This process's environment, for Sources.
std::map<std::string, std::string> ProcessEnvironment();

// Where the value of a setting comes from.
struct Origin {
  enum class Kind { kDefault, kFile, kEnvironment, kFlag };
  Kind kind = Kind::kDefault;
  // "a.yaml:12:5", the variable's name, or "--x". Of a default: why it is not the usual one, "at most a.timeout"; or
  // empty.
  std::string place{};

  std::string Text() const;  // "default", "default, at most a.timeout", "file a.yaml:12:5", "environment X", "flag --x"
  bool operator==(const Origin&) const = default;
};

struct Loaded {
  Settings settings;
  std::map<std::string, Origin> origins;  // by key; every key has one
  std::vector<std::string> files;         // that were read
  std::vector<std::string> warnings;      // such as a BREAKWATCH_* variable that is near a setting's name
};

// Error: kConfig; its message has one line per problem, at most kMaxProblems of them and how many more, such as
// `config.yaml:12:5: unknown key "exporters.pushgateway.ulr"; did you mean "url"?`
inline constexpr int kMaxProblems = 20;
Result<Loaded> Load(const Sources& sources);

// The secret itself, or the content of its file without the line end. Error: kConfig, the file cannot be read,
// is empty or is longer than 64 KiB. Both empty: an empty text.
Result<std::string> ReadSecret(const std::string& secret, const std::string& file);

// Keys whose values differ.
std::vector<std::string> ChangedKeys(const Settings& before, const Settings& after);

// The running settings after a reload: keys with `restart` keep their value.
struct Reloaded {
  Settings settings;
  std::vector<std::string> need_restart;  // keys that differ and were kept
};
Reloaded Reload(const Settings& running, const Settings& loaded);

}  // namespace breakwatch::config
