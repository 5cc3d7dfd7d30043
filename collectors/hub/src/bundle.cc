#include "bundle.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "config_check.h"
#include "files.h"
#include "json_values.h"

namespace breakwatch::hub {
namespace {

constexpr std::size_t kMaxComponents = 32;
constexpr std::size_t kMaxNameBytes = 64;

bool IsComponentName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name.front() != '_' &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

// True for classes that are not modules: they hold settings or a vocabulary, and have no config.json.
bool IsNoModel(const std::string& class_name) {
  constexpr std::array<std::string_view, 6> kEnds = {"Scheduler",      "Tokenizer",          "TokenizerFast",
                                                     "ImageProcessor", "ImageProcessorFast", "FeatureExtractor"};
  return class_name.ends_with("Processor") ||
         std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return class_name.ends_with(end); });
}

}  // namespace

std::string ComponentConfig(const std::string& component) { return component + "/config.json"; }

Result<std::vector<std::string>> ComponentsOf(const std::string& model_index, const HubOptions& options) {
  const Result<Json> index = ParseJson(model_index, options.max_config_bytes, options.max_config_depth);
  if (!index) return index.error().Within(kModelIndex);
  if (!index->is_object()) {
    return Error{ErrorCode::kInvalid, std::string(kModelIndex) + " is not an object but a JSON " + index->type_name()};
  }
  std::vector<std::string> components;
  for (const auto& [name, entry] : index->items()) {
    const bool named = entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string();
    if (!named || !IsComponentName(name) || IsNoModel(entry[1].get<std::string>())) continue;
    if (components.size() == kMaxComponents) {
      return Error{ErrorCode::kInvalid,
                   std::string(kModelIndex) + " has more than " + std::to_string(kMaxComponents) + " components"};
    }
    components.push_back(name);
  }
  return components;
}

std::string BundleText(const std::string& model_index, const std::map<std::string, std::string>& configs) {
  std::string text = "{\"model_index\": " + model_index + ", \"components\": {";
  std::string separator;
  for (const auto& [component, config] : configs) {
    text.append(separator).append("\"").append(component).append("\": ").append(config);
    separator = ", ";
  }
  return text + "}}";
}

Result<std::string> ReadBundle(const std::filesystem::path& folder, const HubOptions& options) {
  const Result<std::string> index = ReadFile(folder / kModelIndex, options.max_config_bytes);
  if (!index) return index.error();
  const auto components = ComponentsOf(*index, options);
  if (!components) return components.error();
  std::map<std::string, std::string> configs;
  for (const std::string& component : *components) {
    Result<std::string> config = ReadFile(folder / ComponentConfig(component), options.max_config_bytes);
    if (config) {
      configs[component] = *std::move(config);
    } else if (config.error().code != ErrorCode::kNotFound) {
      return config.error();
    }
  }
  return BundleText(*index, configs);
}

void TakeBundle(std::string bundle, const FamilyTable& families, const HubOptions& options, RankedModel& model) {
  TakeConfig(std::move(bundle), families, options, model);
  if (model.excluded) return;
  const Result<Json> taken = ParseJson(model.config_json, 4 * options.max_config_bytes, 2 * options.max_config_depth);
  const std::string pipeline = taken ? TextAt(Member(*taken, "model_index"), "_class_name") : std::string();
  model.info.architectures.clear();
  if (!pipeline.empty()) model.info.architectures.push_back(pipeline);
  model.info.model_type.clear();
  model.info.family = families.Find(model.info.task, "", model.info.architectures);
}

}  // namespace breakwatch::hub
