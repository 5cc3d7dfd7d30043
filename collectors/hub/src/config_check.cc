#include "config_check.h"

#include <algorithm>
#include <array>

#include "exclusions.h"
#include "json_values.h"
#include "listed_model.h"

namespace breakwatch::hub {
namespace {

// Enough for the labels of the largest classifiers (22,000). Configurations keep the order of their keys, so each key
// lookup is linear. A hundred thousand keys blocked the loop for a minute.
constexpr std::size_t kMaxMembers = 32'768;

std::string SpellNonFinite(const std::string& text) {
  static constexpr std::array<std::string_view, 3> kWords = {"NaN", "-Infinity", "Infinity"};
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    std::string_view word;
    for (const std::string_view known : kWords) {
      if (!in_string && rest.starts_with(known)) word = known;
    }
    if (!word.empty()) {
      out.append("{\"__float__\": \"").append(word).append("\"}");
      i += word.size();
      continue;
    }
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      out += text[i++];  // the escaped character follows
    } else if (text[i] == '"') {
      in_string = !in_string;
    }
    out += text[i++];
  }
  return out;
}

// The number of members of the largest object. The depth is already limited.
std::size_t LargestObject(const Json& value) {
  std::size_t largest = value.is_object() ? value.size() : 0;
  if (!value.is_structured()) return 0;
  for (const Json& member : value) largest = std::max(largest, LargestObject(member));
  return largest;
}

bool MayHoldNonFinite(const std::string& text) {
  return text.find("NaN") != std::string::npos || text.find("Infinity") != std::string::npos;
}

}  // namespace

void TakeConfig(std::string bytes, const FamilyTable& families, const HubOptions& options, RankedModel& model) {
  if (bytes.size() > options.max_config_bytes) {
    return Exclude(model, {Status::kFailedResolve,
                           "config.json is longer than " + std::to_string(options.max_config_bytes) + " bytes"});
  }
  if (MayHoldNonFinite(bytes)) bytes = SpellNonFinite(bytes);
  // The replaced spelling makes the text slightly longer and one level deeper.
  const Result<Json> config = ParseJson(bytes, 2 * options.max_config_bytes + 64, options.max_config_depth + 1);
  if (!config) return Exclude(model, {Status::kFailedResolve, "invalid config.json: " + config.error().message});
  if (!config->is_object()) {
    return Exclude(
        model, {Status::kFailedResolve, std::string("config.json is not an object but a JSON ") + config->type_name()});
  }
  if (const std::size_t members = LargestObject(*config); members > kMaxMembers) {
    return Exclude(model,
                   {Status::kFailedResolve, "config.json has an object of " + std::to_string(members) +
                                                " members, more than the " + std::to_string(kMaxMembers) + " allowed"});
  }
  ModelInfo& info = model.info;
  TakeConfigFields(*config, info);
  info.family = families.Find(info.task, info.model_type, info.architectures);
  const bool names_nothing = TextAt(*config, "model_type").empty() && Member(*config, "architectures").empty();
  if (names_nothing && Member(*config, "auto_map").is_object()) {
    return Exclude(model, {Status::kSkippedCustomCode,
                           "config.json has no model type and no architecture, only code of the repository "
                           "(auto_map), which is never run"});
  }
  model.config_json = std::move(bytes);
}

}  // namespace breakwatch::hub
