#include "breakwatch/config/allow_list.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "read_file.h"
#include "read_yaml.h"

namespace breakwatch::config {
namespace {

using Of = AllowEntry::Of;

const std::map<std::string, Of>& Selectors() {
  static const std::map<std::string, Of> kSelectors = {
      {"model", Of::kModel}, {"site", Of::kSite}, {"reason", Of::kReason}};
  return kSelectors;
}

std::optional<std::chrono::year_month_day> ParseDate(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  char rest = 0;
  if (text.size() != 10 || std::sscanf(text.c_str(), "%4d-%2u-%2u%c", &year, &month, &day, &rest) != 3) return {};
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  return date.ok() ? std::optional(date) : std::nullopt;
}

// Collects the entries and every problem of one file.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  void Read(const YAML::Node& root) {
    if (!root.IsMap()) return Problem(root, "expected the keys allow and flaky");
    for (const auto& section : root) {
      const std::string key = TextOf(section.first);
      if (key != "allow" && key != "flaky") {
        Problem(section.first, "unknown key \"" + key + "\": expected allow or flaky");
      } else if (!section.second.IsSequence() && !section.second.IsNull()) {
        Problem(section.second, key + ": expected a list of entries");
      } else {
        for (const YAML::Node& entry : section.second) ReadEntry(entry, key == "flaky");
      }
    }
  }

  std::vector<AllowEntry> entries;
  std::string problems;  // lines; empty: none

 private:
  static std::string TextOf(const YAML::Node& node) { return node.IsScalar() ? node.Scalar() : std::string(); }

  void Problem(const YAML::Node& node, const std::string& text) {
    problems += (problems.empty() ? "" : "\n") + PlaceOf(name_, node.Mark()) + ": " + text;
  }

  void ReadEntry(const YAML::Node& node, bool flaky) {
    if (!node.IsMap()) return Problem(node, "expected an entry with model, site or reason, and owner, why, expires");
    AllowEntry entry;
    entry.flaky = flaky;
    entry.place = PlaceOf(name_, node.Mark());
    int selectors = 0;
    std::set<std::string> seen;
    for (const auto& field : node) {
      const std::string key = TextOf(field.first), text = TextOf(field.second);
      if (!seen.insert(key).second) Problem(field.first, key + " is set twice");
      if (text.empty()) Problem(field.second, key + ": expected a text");
      if (const auto selector = Selectors().find(key); selector != Selectors().end()) {
        entry.of = selector->second, entry.value = text, ++selectors;
      } else if (key == "owner") {
        entry.owner = text;
      } else if (key == "why") {
        entry.why = text;
      } else if (key == "expires") {
        const auto date = ParseDate(text);
        if (!date) Problem(field.second, "expires: \"" + text + "\" is not a date, YYYY-MM-DD");
        entry.expires = date.value_or(std::chrono::year_month_day{});
      } else {
        Problem(field.first, "unknown key \"" + key + "\": expected model, site, reason, owner, why or expires");
      }
    }
    if (selectors != 1) return Problem(node, "expected exactly one of model, site and reason");
    if (flaky && entry.of != Of::kModel) return Problem(node, "a flaky entry selects a model");
    if (entry.owner.empty() || entry.why.empty() || !node["expires"]) {
      return Problem(node, Describe(entry) + ": owner, why and expires are required");
    }
    entries.push_back(std::move(entry));
  }

  std::string name_;
};

}  // namespace

Result<AllowList> ReadAllowList(const std::string& path) {
  const auto read = ReadAtMost(path, kMaxFileBytes);
  if (!read) return Error{ErrorCode::kStore, path + " " + read.error().message};
  const std::string& text = *read;
  if (text.size() > kMaxFileBytes) return Error{ErrorCode::kConfig, path + ": larger than 1 MiB"};
  Reader reader(path);
  try {
    const YAML::Node root = YAML::Load(text);
    if (const auto second = SecondDocument(text)) {
      return Error{ErrorCode::kConfig, PlaceOf(path, *second) + ": a second document; only the first would apply"};
    }
    if (!root.IsNull()) reader.Read(root);
  } catch (const YAML::Exception& error) {
    return Error{ErrorCode::kConfig, PlaceOf(path, error.mark) + ": " + error.msg};
  }
  if (!reader.problems.empty()) return Error{ErrorCode::kConfig, reader.problems};
  return AllowList{path, std::move(reader.entries)};
}

}  // namespace breakwatch::config
