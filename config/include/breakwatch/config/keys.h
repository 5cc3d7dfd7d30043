// The table of keys: name, type, meaning and field of every setting. Files, environment, flags, checks, the
// example file and `config show|explain` all derive from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "breakwatch/config/settings.h"

namespace breakwatch::config {

// How to reach a key's field; the alternative is the key's type.
template <class T>
using FieldOf = T& (*)(Settings&);
using Field = std::variant<FieldOf<bool>, FieldOf<std::optional<bool>>, FieldOf<int>, FieldOf<std::int64_t>,
                           FieldOf<std::optional<std::int64_t>>, FieldOf<std::uint64_t>, FieldOf<double>,
                           FieldOf<std::string>, FieldOf<std::vector<std::string>>, FieldOf<std::vector<ToolchainRef>>,
                           FieldOf<milliseconds>, FieldOf<std::optional<milliseconds>>>;

struct Key {
  std::string name{};  // "exporters.pushgateway.url"
  Field field{};
  std::string doc{};                   // one sentence
  bool is_size = false;                // an integer that is written "64KiB"
  bool is_secret = false;              // taken from the environment only, never shown
  bool restart = false;                // a reload does not change it
  bool names = false;                  // a list of names: a flag may give several, separated by commas
  std::vector<std::string> allowed{};  // the only values; empty: any
  double min = 0, max = 0;             // of numbers, and of durations in milliseconds; both 0: any
  // The expected form of a text (of each item of a list) that is wrong; nothing if it is right.
  std::function<std::optional<std::string>(const std::string&)> check{};
};

bool IsList(const Key& key);  // its value is a list, of texts or of toolchains

std::span<const Key> Keys();  // in the order of the example file
const Key* FindKey(std::string_view name);

std::string EnvironmentName(const Key& key);  // "BREAKWATCH_EXPORTERS_PUSHGATEWAY_URL"
// "true or false", "an integer", "text", "live, snapshot, file or directory", ...
std::string TypeName(const Key& key);

// A value as YAML writes it on one line ("30s", "6GiB", ["auto"], "null"); secrets as "<secret>".
std::string ValueText(const Key& key, const Settings& settings);

// What the command line registers for each key that is no secret.
struct Flag {
  std::string key;                 // Key::name
  std::vector<std::string> names;  // "--state-dir", "--state_dir": also with dashes if the key has underscores
  std::string doc, default_text, type;
  bool is_list = false;  // repeats; or one value "[a, b]"
  bool is_bool = false;  // alone it means "true"; else "=true" or "=false"
};
std::vector<Flag> Flags();

}  // namespace breakwatch::config
