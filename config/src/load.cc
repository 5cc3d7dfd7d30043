#include "breakwatch/config/load.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "breakwatch/config/keys.h"
#include "breakwatch/config/models_file.h"
#include "breakwatch/core/text.h"
#include "check.h"
#include "otel_environment.h"
#include "parse.h"
#include "read_file.h"
#include "read_yaml.h"

namespace breakwatch::config {
namespace {

constexpr const char* kServiceStateDir = "/var/lib/breakwatch";
constexpr std::string_view kFilesVariable = "BREAKWATCH_CONFIG_FILE";

bool IsOptional(const Key& key) {
  return std::holds_alternative<FieldOf<std::optional<bool>>>(key.field) ||
         std::holds_alternative<FieldOf<std::optional<std::int64_t>>>(key.field) ||
         std::holds_alternative<FieldOf<std::optional<milliseconds>>>(key.field);
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The value of a variable or one flag: the key's type determines how to parse it.
Raw RawOf(const Key& key, const std::string& text) {
  Raw raw;
  if (IsOptional(key) && (text.empty() || text == "null")) {
    raw.kind = Raw::Kind::kNull;
  } else if (IsList(key)) {
    raw.kind = Raw::Kind::kList;
    if (!text.starts_with("[") || !ParseFlowList(text, raw.items)) raw.items = SplitAtCommas(text);
  } else {
    raw.text = text;
  }
  return raw;
}

// The values of a flag: each is an item of the list, or one is "[a, b]".
Raw RawOf(const Key& key, const std::vector<std::string>& values) {
  if (!IsList(key)) return RawOf(key, values.empty() ? "true" : values.front());
  Raw raw{Raw::Kind::kList, {}, values};
  if (values.size() == 1 && values[0].starts_with("[")) ParseFlowList(values[0], raw.items);
  if (!key.names) return raw;
  std::vector<std::string> names;
  for (const std::string& item : raw.items) {
    for (std::string& name : SplitAtCommas(item)) names.push_back(std::move(name));
  }
  raw.items = std::move(names);
  return raw;
}

class Loader {
 public:
  explicit Loader(const Sources& sources) : sources_(sources) {}

  Result<Loaded> Run() {
    for (const Key& key : Keys()) loaded_.origins[key.name] = Origin();
    Files();
    Environment();
    Flags();
    ApplyOtelEnvironment(sources_.environment, loaded_);
    StateDirectory();
    Models();
    // Combinations are checked only if each value is valid.
    if (problems_.empty()) FitDefaults();
    if (problems_.empty()) Together();
    if (problems_.empty()) return std::move(loaded_);
    return Error{ErrorCode::kConfig, Joined()};
  }

 private:
  void Files() {
    loaded_.files = sources_.files;
    const auto variable = sources_.environment.find(std::string(kFilesVariable));
    if (loaded_.files.empty() && variable != sources_.environment.end()) {
      loaded_.files = SplitAtCommas(variable->second);
    }
    for (const std::string& file : loaded_.files) {
      std::map<std::string, std::string> places;
      ReadYamlFile(file, {loaded_.settings, places, problems_});
      for (const auto& [key, place] : places) loaded_.origins[key] = {Origin::Kind::kFile, place};
    }
  }

  void Environment() {
    std::vector<std::string> names{std::string(kFilesVariable)};
    for (const Key& key : Keys()) {
      names.push_back(EnvironmentName(key));
      const auto found = sources_.environment.find(names.back());
      if (found != sources_.environment.end()) {
        Set(key, RawOf(key, found->second), {Origin::Kind::kEnvironment, found->first});
      }
    }
    // Only a warning: orchestrators set variables such as BREAKWATCH_SERVICE_HOST.
    for (const auto& [name, value] : sources_.environment) {
      if (!name.starts_with("BREAKWATCH_") || std::find(names.begin(), names.end(), name) != names.end()) continue;
      if (const auto near = NearestByEdits(name, names)) {
        loaded_.warnings.push_back("environment " + name + " is not a setting; did you mean " + *near + "?");
      }
    }
  }

  // The common prefix must not make unrelated names seem similar.
  static std::optional<std::string> NearestByEdits(const std::string& name, const std::vector<std::string>& names) {
    constexpr std::size_t kPrefix = std::string_view("BREAKWATCH_").size();
    std::vector<std::string> tails;
    for (const std::string& known : names) tails.push_back(known.substr(kPrefix));
    const auto near = NearestName(name.substr(kPrefix), tails);
    return near ? std::optional("BREAKWATCH_" + *near) : std::nullopt;
  }

  void Flags() {
    for (const auto& [name, values] : sources_.flags) {
      const Key* key = FindKey(name);
      const Origin origin{Origin::Kind::kFlag, "--" + name};
      if (!key || key->is_secret) {
        problems_.push_back(origin.Text() + ": unknown setting");
      } else if (!IsList(*key) && values.size() > 1) {
        problems_.push_back(origin.Text() + ": given " + std::to_string(values.size()) + " times");
      } else {
        Set(*key, RawOf(*key, values), origin);
      }
    }
  }

  void Set(const Key& key, const Raw& raw, const Origin& origin) {
    if (const auto wrong = SetField(key, raw, loaded_.settings)) {
      problems_.push_back(origin.Text() + ": " + *wrong);
    } else {
      loaded_.origins[key.name] = origin;
    }
  }

  // The default is below the working directory. A service without a configured one runs in /, and /var belongs to the
  // system. systemd passes the directory of a unit's StateDirectory=.
  void StateDirectory() {
    Origin& origin = loaded_.origins["state_dir"];
    if (origin != Origin()) return;
    const auto given = sources_.environment.find("STATE_DIRECTORY");
    std::error_code error;
    if (given != sources_.environment.end() && !given->second.empty()) {
      loaded_.settings.state_dir = given->second.substr(0, given->second.find(':'));
      origin = {Origin::Kind::kEnvironment, "STATE_DIRECTORY"};
    } else if (std::filesystem::current_path(error) == "/") {
      loaded_.settings.state_dir = kServiceStateDir;
      origin.place = "as the working directory is /";
    }
  }

  // If two settings limit each other and only one is set, the default of the other is adjusted.
  void FitDefaults() {
    constexpr std::pair<const char*, const char*> kPairs[] = {
        {"exporters.pushgateway.connect_timeout", "exporters.pushgateway.timeout"},
        {"exporters.loki.connect_timeout", "exporters.loki.timeout"},
        {"exporters.remote_write.connect_timeout", "exporters.remote_write.timeout"},
        {"exporters.otlp.connect_timeout", "exporters.otlp.timeout"},
        {"delivery.first_backoff", "delivery.max_backoff"}};
    const auto field = [&](const char* key) -> milliseconds& {
      return std::get<FieldOf<milliseconds>>(FindKey(key)->field)(loaded_.settings);
    };
    for (const auto& [less, more] : kPairs) {
      if (field(less) <= field(more)) continue;
      if (Origin& origin = loaded_.origins[less]; origin == Origin()) {
        field(less) = field(more);
        origin.place = std::string("at most ") + more;
      } else if (Origin& bound = loaded_.origins[more]; bound == Origin()) {
        field(more) = field(less);
        bound.place = std::string("at least ") + less;
      }
    }
  }

  void Models() {
    const std::string& path = loaded_.settings.models.file;
    if (path.empty()) return;
    auto rules = ReadModelsFile(path);
    if (rules) {
      loaded_.settings.models.rules = *std::move(rules);
      loaded_.files.push_back(path);
      return;
    }
    for (std::string_view rest = rules.error().message; !rest.empty();) {
      const std::string_view line = FirstLine(rest);
      problems_.emplace_back(line);
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    }
  }

  void Together() {
    const bool from_environment = loaded_.origins["store.url"].kind == Origin::Kind::kEnvironment;
    const Findings findings = CheckTogether(loaded_.settings, from_environment);
    for (const Finding& problem : findings.problems) problems_.push_back(Placed(problem));
    for (const Finding& warning : findings.warnings) loaded_.warnings.push_back(Placed(warning));
  }

  std::string Placed(const Finding& finding) {
    const Origin& origin = loaded_.origins[finding.key];
    const std::string place = origin.kind == Origin::Kind::kDefault ? ""
                              : origin.kind == Origin::Kind::kFile  ? origin.place + ": "
                                                                    : origin.Text() + ": ";
    return place + "\"" + finding.key + "\": " + finding.text;
  }

  std::string Joined() const {
    std::string text;
    for (std::size_t i = 0; i < problems_.size() && i < kMaxProblems; ++i) {
      text += (i == 0 ? "" : "\n") + problems_[i];
    }
    if (problems_.size() > kMaxProblems) {
      text += "\n... and " + std::to_string(problems_.size() - kMaxProblems) + " more problems";
    }
    return text;
  }

  const Sources& sources_;
  Loaded loaded_;
  std::vector<std::string> problems_;
};

}  // namespace

std::map<std::string, std::string> ProcessEnvironment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Result<Loaded> Load(const Sources& sources) { return Loader(sources).Run(); }

Result<std::string> ReadSecret(const std::string& secret, const std::string& file) {
  if (file.empty()) return secret;
  constexpr std::size_t kMaxSecret = 64 << 10;
  auto read = ReadAtMost(file, kMaxSecret);
  if (!read) return read.error().Within(file);
  std::string text = *std::move(read);
  if (text.size() > kMaxSecret) return Error{ErrorCode::kConfig, file + ": is longer than 64 KiB"};
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty()) return Error{ErrorCode::kConfig, file + ": is empty"};
  return text;
}

std::vector<std::string> ChangedKeys(const Settings& before, const Settings& after) {
  std::vector<std::string> changed;
  Settings a = before, b = after;
  for (const Key& key : Keys()) {
    const bool same = std::visit([&](auto field) { return field(a) == field(b); }, key.field);
    if (!same) changed.push_back(key.name);
  }
  return changed;
}

Reloaded Reload(const Settings& running, const Settings& loaded) {
  Reloaded out{loaded, {}};
  Settings kept = running;
  for (const std::string& name : ChangedKeys(running, loaded)) {
    const Key& key = *FindKey(name);
    if (!key.restart) continue;
    std::visit([&](auto field) { field(out.settings) = field(kept); }, key.field);
    out.need_restart.push_back(name);
  }
  return out;
}

}  // namespace breakwatch::config
