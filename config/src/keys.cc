#include "breakwatch/config/keys.h"

#include <algorithm>
#include <map>

#include "key_table.h"

namespace breakwatch::config {
namespace {

struct TypeNameOf {
  std::string operator()(FieldOf<bool>) const { return "true or false"; }
  std::string operator()(FieldOf<std::optional<bool>>) const { return "true, false or null"; }
  std::string operator()(FieldOf<int>) const { return "an integer"; }
  std::string operator()(FieldOf<std::int64_t>) const { return "an integer"; }
  std::string operator()(FieldOf<std::uint64_t>) const { return "an integer from 0"; }
  std::string operator()(FieldOf<std::optional<std::int64_t>>) const { return "an integer or null"; }
  std::string operator()(FieldOf<double>) const { return "a number"; }
  std::string operator()(FieldOf<std::string>) const { return "text"; }
  template <class T>
  std::string operator()(FieldOf<std::vector<T>>) const {
    return "a list of texts";
  }
  std::string operator()(FieldOf<milliseconds>) const { return "a duration such as 500ms, 30s, 5m or 24h"; }
  std::string operator()(FieldOf<std::optional<milliseconds>>) const {
    return "a duration such as 30s, 5m or 24h, or null";
  }
};

std::vector<std::string> FlagNames(const std::string& key) {
  std::string dashed = key;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  if (dashed == key) return {"--" + key};
  return {"--" + key, "--" + dashed};
}

}  // namespace

bool IsList(const Key& key) {
  return std::holds_alternative<FieldOf<std::vector<std::string>>>(key.field) ||
         std::holds_alternative<FieldOf<std::vector<ToolchainRef>>>(key.field);
}

std::span<const Key> Keys() {
  static const std::vector<Key> keys = MakeKeyTable();
  return keys;
}

const Key* FindKey(std::string_view name) {
  static const auto by_name = [] {
    std::map<std::string, const Key*, std::less<>> map;
    for (const Key& key : Keys()) map.emplace(key.name, &key);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::string EnvironmentName(const Key& key) {
  std::string name = "BREAKWATCH_" + key.name;
  for (char& c : name) {
    if (c == '.') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

std::string TypeName(const Key& key) {
  const bool may_be_null = std::holds_alternative<FieldOf<std::optional<std::int64_t>>>(key.field);
  if (key.is_size)
    return may_be_null ? "a size such as 512MiB or 6GiB, or null" : "a size such as 64KiB, 512MiB or 6GiB";
  if (!key.allowed.empty()) {
    std::string names;
    for (std::size_t i = 0; i < key.allowed.size(); ++i) {
      const bool last = i + 1 == key.allowed.size();
      names += (i == 0 ? "" : last ? " or " : ", ") + key.allowed[i];
    }
    return names;
  }
  return std::visit(TypeNameOf{}, key.field);
}

std::vector<Flag> Flags() {
  std::vector<Flag> flags;
  for (const Key& key : Keys()) {
    if (key.is_secret) continue;
    flags.push_back({.key = key.name,
                     .names = FlagNames(key.name),
                     .doc = key.doc,
                     .default_text = ValueText(key, Settings{}),
                     .type = TypeName(key),
                     .is_list = IsList(key),
                     .is_bool = std::holds_alternative<FieldOf<bool>>(key.field)});
  }
  return flags;
}

}  // namespace breakwatch::config
