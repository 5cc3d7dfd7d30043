#include "breakwatch/config/models_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <utility>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "parse.h"
#include "read_file.h"
#include "read_yaml.h"
#include "text_checks.h"
#include "yaml_json.h"

namespace breakwatch::config {
namespace {

constexpr std::size_t kMaxTextBytes = 500;  // of a reason to skip, a contact

std::string Shown(const std::string& text) { return "\"" + ShortLine(text, 120) + "\""; }

// Collects the rules and every problem of one file.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  void Read(const YAML::Node& root) {
    static const Fields<ModelRules> kSections = {{"owners", &Reader::Owners}, {"overrides", &Reader::Overrides}};
    if (root.IsNull()) return;
    ReadFields(root, kSections, rules);
    const auto names = OwnerNames(rules.owners);  // all are known now
    for (const auto& [filter, mark] : of_overrides_) {
      if (auto checked = filter.CheckOwners(names); !checked) ProblemAt(mark, "models: " + checked.error().message);
    }
  }

  ModelRules rules;
  std::vector<std::string> problems;

 private:
  template <class T>
  using Fields = std::vector<std::pair<std::string, void (Reader::*)(const YAML::Node&, T&)>>;

  void ProblemAt(const YAML::Mark& mark, const std::string& text) {
    problems.push_back(PlaceOf(name_, mark) + ": " + text);
  }
  void Problem(const YAML::Node& node, const std::string& text) { ProblemAt(node.Mark(), text); }

  // Each key of a mapping by its function. Unknown and repeated keys are problems.
  template <class T>
  void ReadFields(const YAML::Node& node, const Fields<T>& fields, T& into) {
    std::vector<std::string> names;
    for (const auto& [name, read] : fields) names.push_back(name);
    if (!node.IsMap()) return Problem(node, "expected a mapping of " + Joined(names));
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == key; });
      if (field == fields.end()) {
        const auto near = NearestName(key, names);
        Problem(entry.first, "unknown key " + Shown(key) +
                                 (near ? "; did you mean \"" + *near + "\"?" : ": expected one of " + Joined(names)));
      } else if (!seen.insert(key).second) {
        Problem(entry.first, "\"" + key + "\" is set twice");
      } else {
        (this->*field->second)(entry.second, into);
      }
    }
  }

  // A line of text; an empty one is a problem.
  std::string Text(const YAML::Node& node, const std::string& expected) {
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    const bool control = std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
    if (!text.empty() && !control && text.size() <= kMaxTextBytes) return text;
    Problem(node, "expected " + expected);
    return {};
  }

  // One of `allowed`.
  void OneOf(const YAML::Node& node, const std::vector<std::string>& allowed, std::string& into) {
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) {
      into = text;
    } else {
      const auto near = NearestName(text, allowed);
      Problem(node, "expected one of " + Joined(allowed) + ", got " + Shown(text) +
                        (near ? "; did you mean \"" + *near + "\"?" : ""));
    }
  }

  void Filter(const YAML::Node& node, ModelFilter& into, bool of_owner) {
    std::vector<ModelFilter> filters;
    const auto add = [&](const YAML::Node& one) {
      if (!one.IsScalar()) return Problem(one, "models: expected a filter such as family:audio, or a list of them");
      auto filter = ModelFilter::Parse(one.Scalar(), ReadFilterFile);
      if (!filter) return Problem(one, "models: " + filter.error().message);
      for (const auto& [key, name] : {std::pair(FilterKey::kReason, "reason"), std::pair(FilterKey::kStatus, "status"),
                                      std::pair(FilterKey::kMode, "mode"), std::pair(FilterKey::kOwner, "owner")}) {
        const bool allowed = key == FilterKey::kOwner && !of_owner;
        if (filter->Uses(key) && !allowed)
          return Problem(one, std::string("models: ") + name + ": is not known before a capture" +
                                  (key == FilterKey::kOwner ? ", and an owner is not defined by another one" : ""));
      }
      if (!of_owner) of_overrides_.emplace_back(*filter, one.Mark());
      filters.push_back(*std::move(filter));
    };
    if (node.IsSequence()) {
      for (const YAML::Node& one : node) add(one);
    } else {
      add(node);
    }
    if (!filters.empty()) into = ModelFilter::AnyOf(filters);
  }

  void Owners(const YAML::Node& node, ModelRules& into) {
    static const Fields<ModelOwner> kFields = {{"contact", &Reader::Contact}, {"models", &Reader::OwnedModels}};
    if (!node.IsMap()) return Problem(node, "owners: expected a mapping of names to their models");
    for (const auto& entry : node) {
      ModelOwner owner;
      owner.name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (const auto wrong = Name(owner.name)) {
        Problem(entry.first, "owner " + Shown(owner.name) + ": expected " + *wrong);
      } else if (const auto names = OwnerNames(into.owners); std::count(names.begin(), names.end(), owner.name) != 0) {
        Problem(entry.first, "owner " + Shown(owner.name) + " is defined twice");
      }
      ReadFields(entry.second, kFields, owner);
      if (entry.second.IsMap() && !entry.second["models"]) Problem(entry.first, "owner " + owner.name + ": no models");
      into.owners.push_back(std::move(owner));
    }
  }
  void Contact(const YAML::Node& node, ModelOwner& into) { into.contact = Text(node, "a contact on one line"); }
  void OwnedModels(const YAML::Node& node, ModelOwner& into) { Filter(node, into.models, /*of_owner=*/true); }

  void Overrides(const YAML::Node& node, ModelRules& into) {
    static const Fields<ModelOverride> kFields = {{"models", &Reader::OverriddenModels},
                                                  {"inputs", &Reader::Inputs},
                                                  {"modes", &Reader::Modes},
                                                  {"limits", &Reader::Limits},
                                                  {"dtype", &Reader::Dtype},
                                                  {"attention", &Reader::Attention},
                                                  {"skip", &Reader::Skip}};
    if (!node.IsSequence()) return Problem(node, "overrides: expected a list of entries");
    for (const YAML::Node& entry : node) {
      ModelOverride rule;
      ReadFields(entry, kFields, rule);
      if (entry.IsMap() && !entry["models"]) Problem(entry, "an override needs the key models");
      if (entry.IsMap() && entry.size() == 1) Problem(entry, "an override of nothing");
      into.overrides.push_back(std::move(rule));
    }
  }
  void OverriddenModels(const YAML::Node& node, ModelOverride& into) { Filter(node, into.models, /*of_owner=*/false); }
  void Inputs(const YAML::Node& node, ModelOverride& into) {
    const auto json = JsonOf(node);
    if (!json) return Problem(node, "inputs: " + json.error().message);
    if (!node.IsMap()) return Problem(node, "inputs: expected a mapping, as in capture.inputs_file");
    into.inputs_json = *json;
  }
  void Modes(const YAML::Node& node, ModelOverride& into) {
    if (!node.IsSequence() || node.size() == 0) return Problem(node, "modes: expected a list such as [eval, train]");
    for (const YAML::Node& one : node) {
      std::string mode;
      OneOf(one, AllModesWithCalls(), mode);
      if (std::count(into.modes.begin(), into.modes.end(), mode) != 0)
        Problem(one, "mode " + mode + " is listed twice");
      into.modes.push_back(std::move(mode));
    }
  }
  void Dtype(const YAML::Node& node, ModelOverride& into) { OneOf(node, {kDtypes.begin(), kDtypes.end()}, into.dtype); }
  void Attention(const YAML::Node& node, ModelOverride& into) {
    OneOf(node, {kAttentions.begin(), kAttentions.end()}, into.attention);
  }
  void Skip(const YAML::Node& node, ModelOverride& into) {
    into.skip = Text(node, "why the models are skipped, on one line");
    into.skip_place = PlaceOf(name_, node.Mark());
  }

  void Limits(const YAML::Node& node, ModelOverride& into) {
    static const Fields<LimitOverrides> kFields = {{"create", &Reader::Duration<&LimitOverrides::create>},
                                                   {"inputs", &Reader::Duration<&LimitOverrides::inputs>},
                                                   {"eager", &Reader::Duration<&LimitOverrides::eager>},
                                                   {"capture", &Reader::Duration<&LimitOverrides::capture>},
                                                   {"rss_bytes", &Reader::Memory}};
    ReadFields(node, kFields, into.limits);
  }
  template <std::optional<milliseconds> LimitOverrides::*kField>
  void Duration(const YAML::Node& node, LimitOverrides& into) {
    const auto duration = node.IsScalar() ? ParseDuration(node.Scalar()) : std::nullopt;
    if (!duration || duration->count() < kMinLimit.count() || *duration > kMaxLimit)
      return Problem(node, "expected a duration from " + std::to_string(kMinLimit.count()) + "ms to 24h, such as 10m");
    into.*kField = *duration;
  }
  void Memory(const YAML::Node& node, LimitOverrides& into) {
    const auto bytes = node.IsScalar() ? ParseSize(node.Scalar()) : std::nullopt;
    if (!bytes || *bytes < kMinMemory || *bytes > kMaxMemory)
      return Problem(node, "expected a size from 64MiB to 1024TiB, such as 8GiB");
    into.rss_bytes = *bytes;
  }

  static constexpr milliseconds kMinLimit{100}, kMaxLimit{24 * 3'600'000};
  static constexpr std::int64_t kMinMemory = 64LL << 20, kMaxMemory = 1LL << 50;

  std::string name_;
  std::vector<std::pair<ModelFilter, YAML::Mark>> of_overrides_;
};

}  // namespace

Result<ModelRules> ReadModels(const std::string& name, const std::string& text) {
  Reader reader(name);
  const auto refuse = [](const std::string& problem) { return Error{ErrorCode::kConfig, problem}; };
  if (ToUtf8(text) != text) return refuse(name + ": is not UTF-8 text");
  try {
    const YAML::Node root = YAML::Load(text);
    if (const auto second = SecondDocument(text)) return refuse(PlaceOf(name, *second) + ": a second document");
    reader.Read(root);
  } catch (const YAML::Exception& error) {
    return refuse(PlaceOf(name, error.mark) + ": not YAML: " + ShortLine(error.msg, kMaxTextBytes));
  }
  if (reader.problems.empty()) return std::move(reader.rules);
  std::string lines;
  for (const std::string& problem : reader.problems) lines += (lines.empty() ? "" : "\n") + problem;
  return refuse(lines);
}

Result<ModelRules> ReadModelsFile(const std::string& path) {
  const auto text = ReadAtMost(path, kMaxFileBytes);
  if (!text) return text.error().Within(path);
  if (text->size() > kMaxFileBytes) return Error{ErrorCode::kConfig, path + ": is longer than 1 MiB"};
  return ReadModels(path, *text);
}

Result<std::string> ReadFilterFile(const std::string& path) { return ReadAtMost(path, kMaxFilterFileBytes); }

}  // namespace breakwatch::config
