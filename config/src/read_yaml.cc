#include "read_yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <set>
#include <sstream>

#include "breakwatch/core/text.h"
#include "parse.h"
#include "read_file.h"

namespace breakwatch::config {
namespace {

// The names one level below a section: "exporters." -> pushgateway, loki, ...
std::vector<std::string> Children(const std::string& prefix) {
  std::set<std::string> names;
  for (const Key& key : Keys()) {
    if (!key.name.starts_with(prefix)) continue;
    names.insert(key.name.substr(prefix.size(), key.name.find('.', prefix.size()) - prefix.size()));
  }
  return {names.begin(), names.end()};
}

Raw ToRaw(const YAML::Node& node) {
  Raw raw;
  switch (node.Type()) {
    case YAML::NodeType::Map:
      raw.kind = Raw::Kind::kMap;
      break;
    case YAML::NodeType::Sequence:
      raw.kind = Raw::Kind::kList;
      for (const YAML::Node& item : node) {
        if (!item.IsScalar()) return {Raw::Kind::kMap, {}, {}};
        raw.items.push_back(item.Scalar());
      }
      break;
    case YAML::NodeType::Scalar:
      raw.kind = node.Tag() == "!" ? Raw::Kind::kQuoted : Raw::Kind::kPlain;
      raw.text = node.Scalar();
      break;
    default:
      raw.kind = Raw::Kind::kNull;
  }
  return raw;
}

// Records where documents begin and ignores their content.
class DocumentStarts : public YAML::EventHandler {
 public:
  std::vector<YAML::Mark> starts;

  void OnDocumentStart(const YAML::Mark& mark) override { starts.push_back(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

std::string Shown(const std::string& text) { return ShortLine(text, 120); }

class Walker {
 public:
  Walker(const std::string& name, FileReading& reading) : name_(name), reading_(reading) {}

  void Section(const YAML::Node& node, const std::string& prefix) {
    if (node.IsNull()) return;
    if (!node.IsMap()) {
      const std::string what = prefix.empty() ? "settings" : "\"" + prefix.substr(0, prefix.size() - 1) + "\"";
      return Problem(node.Mark(), what + ": expected a mapping of keys to values, got " +
                                      (node.IsSequence() ? "a list" : "a single value"));
    }
    // Iteration includes duplicate keys, which a look-up would hide.
    for (const auto& entry : node) Entry(entry.first, entry.second, prefix);
  }

 private:
  void Entry(const YAML::Node& name, const YAML::Node& value, const std::string& prefix) {
    if (!name.IsScalar()) return Problem(name.Mark(), "expected a name before the colon");
    const std::string full = prefix + name.Scalar();
    if (const Key* key = FindKey(full)) return Value(*key, name.Mark(), value);
    if (Children(full + ".").empty()) return Unknown(name, prefix);
    if (!seen_.insert(full).second) return Problem(name.Mark(), "\"" + full + "\" is set twice");
    Section(value, full + ".");
  }

  void Value(const Key& key, const YAML::Mark& mark, const YAML::Node& value) {
    if (!seen_.insert(key.name).second) return Problem(mark, "\"" + key.name + "\" is set twice");
    if (key.is_secret) {
      return Problem(mark, "\"" + key.name + "\": a secret is not read from files; use \"" + key.name + "_file\" or " +
                               EnvironmentName(key));
    }
    const auto wrong = SetField(key, ToRaw(value), reading_.settings);
    const YAML::Mark at = value.IsNull() || value.Mark().is_null() ? mark : value.Mark();
    if (wrong) return Problem(at, "\"" + key.name + "\": " + *wrong);
    reading_.places[key.name] = PlaceOf(name_, at);
  }

  void Unknown(const YAML::Node& name, const std::string& prefix) {
    std::string text = "unknown key \"" + Shown(prefix + name.Scalar()) + "\"";
    const auto near = NearestName(name.Scalar(), Children(prefix));
    Problem(name.Mark(), text + (near ? "; did you mean \"" + *near + "\"?" : ""));
  }

  void Problem(const YAML::Mark& mark, const std::string& text) {
    reading_.problems.push_back(PlaceOf(name_, mark) + ": " + text);
  }

  const std::string& name_;
  FileReading& reading_;
  std::set<std::string> seen_;
};

}  // namespace

std::optional<YAML::Mark> SecondDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts documents;
  if (!parser.HandleNextDocument(documents) || !parser.HandleNextDocument(documents)) return std::nullopt;
  return documents.starts.back();
}

std::string PlaceOf(const std::string& name, const YAML::Mark& mark) {
  if (mark.is_null()) return name;
  return name + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

void ReadYaml(const std::string& name, const std::string& text, FileReading reading) {
  try {
    const YAML::Node document = YAML::Load(text);
    if (const auto rest = SecondDocument(text)) {
      reading.problems.push_back(PlaceOf(name, *rest) + ": expected the end of the settings, a single document");
      return;
    }
    Walker(name, reading).Section(document, "");
  } catch (const YAML::Exception& error) {
    // Too deep, badly indented, an unknown alias, ...
    reading.problems.push_back(PlaceOf(name, error.mark) + ": not YAML: " + Shown(error.msg));
  }
}

void ReadYamlFile(const std::string& path, FileReading reading) {
  const auto refuse = [&](const std::string& why) { reading.problems.push_back(path + ": " + why); };
  const auto text = ReadAtMost(path, kMaxFileBytes);
  if (!text) return refuse(text.error().message);
  if (text->size() > kMaxFileBytes) return refuse("is longer than 1 MiB");
  if (ToUtf8(*text) != *text) return refuse("is not UTF-8 text");
  ReadYaml(path, *text, reading);
}

bool ParseFlowList(const std::string& text, std::vector<std::string>& items) {
  try {
    const Raw raw = ToRaw(YAML::Load(text));
    if (raw.kind != Raw::Kind::kList) return false;
    items = raw.items;
    return true;
  } catch (const YAML::Exception&) {
    return false;
  }
}

}  // namespace breakwatch::config
