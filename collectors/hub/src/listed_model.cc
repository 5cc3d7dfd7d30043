#include "listed_model.h"

#include <algorithm>

#include "breakwatch/core/text.h"
#include "model_id.h"

namespace breakwatch::hub {
namespace {

constexpr std::size_t kMaxTags = 500;
constexpr std::size_t kMaxArchitectures = 16;
constexpr std::size_t kMaxLicense = 100;

std::optional<std::int64_t> Parameters(const Json& safetensors) {
  if (const auto total = IntegerAt(safetensors, "total"); total && *total >= 0) return total;
  const Json& by_type = Member(safetensors, "parameters");
  if (!by_type.is_object() || by_type.empty()) return std::nullopt;
  double sum = 0;  // cannot overflow for any input
  for (const auto& [type, count] : by_type.items()) sum += count.is_number() ? count.get<double>() : 0;
  constexpr double kLargest = 1e18;
  if (!(sum >= 0 && sum < kLargest)) return std::nullopt;
  return static_cast<std::int64_t>(sum);
}

// false, "auto" or "manual"; true from servers that do not distinguish kinds.
std::string Gated(const Json& body) { return BoolAt(body, "gated") ? "manual" : Truncate(TextAt(body, "gated"), 20); }

// The Hub makes the tag from the card's metadata. Other sources have the metadata alone.
std::string License(const std::vector<std::string>& tags, const Json& card) {
  constexpr std::string_view kTag = "license:";
  for (const std::string& tag : tags) {
    if (tag.starts_with(kTag)) return Truncate(tag.substr(kTag.size()), kMaxLicense);
  }
  return Truncate(TextAt(card, "license"), kMaxLicense);
}

}  // namespace

void TakeConfigFields(const Json& config, ModelInfo& info) {
  if (std::string type = TextAt(config, "model_type"); !type.empty()) info.model_type = std::move(type);
  if (auto names = TextsAt(config, "architectures", kMaxArchitectures); !names.empty()) {
    info.architectures = std::move(names);
  }
  const Json& auto_map = Member(config, "auto_map");
  if (auto_map.is_object() && !auto_map.empty()) info.custom_code = true;
}

Result<ListedModel> ReadListedModel(const Json& body, const FamilyTable& families) {
  ListedModel model;
  ModelInfo& info = model.info;
  info.id = TextAt(body, "id");
  if (info.id.empty()) info.id = TextAt(body, "modelId");  // bodies of 2022 have no "id"
  if (!IsModelId(info.id)) return Error{ErrorCode::kInvalid, "\"" + info.id + "\" is not a model id"};
  info.hub_id = TextAt(body, "_id");
  info.sha = TextAt(body, "sha");
  if (!IsCommit(info.sha)) info.sha.clear();
  info.task = TextAt(body, "pipeline_tag");
  if (info.task.empty()) info.task = TextAt(Member(body, "transformersInfo"), "pipeline_tag");
  info.library = TextAt(body, "library_name");
  info.params = Parameters(Member(body, "safetensors"));
  info.downloads = IntegerAt(body, "downloads");
  info.likes = IntegerAt(body, "likes");
  info.gated = Gated(body);
  info.is_private = BoolAt(body, "private");
  info.disabled = BoolAt(body, "disabled");
  if (TextAt(body, "config_source") == "class_default") info.config_source = "class_default";
  model.tags = TextsAt(body, "tags", kMaxTags);
  info.license = License(model.tags, Member(body, "cardData"));
  info.custom_code = std::find(model.tags.begin(), model.tags.end(), "custom_code") != model.tags.end();
  TakeConfigFields(Member(body, "config"), info);
  info.family = families.Find(info.task, info.model_type, info.architectures);
  model.trending_score = NumberAt(body, "trendingScore");
  model.created_at = TextAt(body, "createdAt");
  model.last_modified = TextAt(body, "lastModified");
  return model;
}

}  // namespace breakwatch::hub
