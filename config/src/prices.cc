#include "breakwatch/config/prices.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "breakwatch/core/text.h"
#include "read_file.h"
#include "read_yaml.h"
#include "text_checks.h"

namespace breakwatch::config {
namespace {

constexpr std::size_t kMaxMachines = 64;
constexpr double kMaxPrice = 1e6;
constexpr int kMaxThreads = 4096;

template <class T>
std::optional<T> NumberIn(const std::string& text, T least, T most) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most)) return {};
  return value;
}

// Collects the prices and every problem of one file.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  void Read(const YAML::Node& root) {
    ReadFields(root, {{"currency", [this](const YAML::Node& node) { prices.currency = Text(node, "currency"); }},
                      {"machines", [this](const YAML::Node& node) { ReadMachines(node); }}});
  }

  Prices prices;
  std::string problems;  // lines; empty: none

 private:
  using Fields = std::map<std::string, std::function<void(const YAML::Node&)>>;

  void Problem(const YAML::Node& node, const std::string& text) {
    problems += (problems.empty() ? "" : "\n") + PlaceOf(name_, node.Mark()) + ": " + text;
  }

  // Each key exactly once, by its function.
  void ReadFields(const YAML::Node& node, const Fields& fields) {
    std::vector<std::string> names;
    for (const auto& [name, read] : fields) names.push_back(name);
    if (!node.IsMap()) return Problem(node, "expected a mapping with " + Joined(names));
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      const auto field = fields.find(key);
      if (field == fields.end()) {
        Problem(entry.first, "unknown key \"" + ShortLine(key, 120) + "\": expected " + Joined(names));
      } else if (!seen.insert(key).second) {
        Problem(entry.first, "\"" + key + "\" is set twice");
      } else {
        field->second(entry.second);
      }
    }
    for (const std::string& name : names) {
      if (!seen.contains(name)) Problem(node, "no \"" + name + "\"");
    }
  }

  std::string Text(const YAML::Node& node, const std::string& key) {
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    if (text.empty() || OneLine(text)) Problem(node, key + ": expected a short text on one line");
    return text;
  }
  template <class T>
  T Number(const YAML::Node& node, const std::string& key, T least, T most, const std::string& expected) {
    const auto value = NumberIn<T>(node.IsScalar() ? node.Scalar() : "", least, most);
    if (!value) Problem(node, key + ": expected " + expected);
    return value.value_or(least);
  }

  void ReadMachines(const YAML::Node& node) {
    if (!node.IsSequence() || node.size() == 0 || node.size() > kMaxMachines) {
      return Problem(node, "machines: expected a list of 1 to 64 machines");
    }
    std::set<std::string> names;
    for (const YAML::Node& entry : node) {
      MachinePrice machine;
      ReadFields(entry, {{"name", [&](const YAML::Node& n) { machine.name = Text(n, "name"); }},
                         {"price_per_hour",
                          [&](const YAML::Node& n) {
                            machine.per_hour =
                                Number<double>(n, "price_per_hour", 0, kMaxPrice, "a price from 0 to 1000000");
                          }},
                         {"threads", [&](const YAML::Node& n) {
                            machine.threads = Number<int>(n, "threads", 1, kMaxThreads, "a number from 1 to 4096");
                          }}});
      if (!names.insert(machine.name).second) Problem(entry, "machine \"" + machine.name + "\" is listed twice");
      prices.machines.push_back(std::move(machine));
    }
  }

  const std::string name_;
};

}  // namespace

Result<Prices> ReadPrices(const std::string& path) {
  const auto text = ReadAtMost(path, kMaxFileBytes);
  if (!text) return Error{ErrorCode::kConfig, path + " " + text.error().message};
  if (text->size() > kMaxFileBytes) return Error{ErrorCode::kConfig, path + ": larger than 1 MiB"};
  Reader reader(path);
  try {
    const YAML::Node root = YAML::Load(*text);
    if (const auto second = SecondDocument(*text)) {
      return Error{ErrorCode::kConfig, PlaceOf(path, *second) + ": a second document; only the first would apply"};
    }
    reader.Read(root);
  } catch (const YAML::Exception& error) {
    return Error{ErrorCode::kConfig, PlaceOf(path, error.mark) + ": " + error.msg};
  }
  if (!reader.problems.empty()) return Error{ErrorCode::kConfig, reader.problems};
  return std::move(reader.prices);
}

}  // namespace breakwatch::config
