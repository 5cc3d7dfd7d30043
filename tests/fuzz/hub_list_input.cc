#include "config_check.h"
#include "fuzz/hub_list_fuzz.h"
#include "hub_errors.h"
#include "listed_model.h"
#include "model_id.h"
#include "pacer.h"
#include "ranking.h"
#include "url.h"

namespace breakwatch::fuzz {

void ReadHubBytes(std::string_view bytes) {
  static const Result<hub::FamilyTable> kFamilies = hub::FamilyTable::Load("");
  const hub::HubOptions options;
  constexpr int kMaxDepth = 64;
  if (const auto page = hub::ParseJson(bytes, 1u << 20, kMaxDepth); page && page->is_array()) {
    std::vector<hub::ListedModel> models;
    for (const hub::Json& item : *page) {
      if (auto model = hub::ReadListedModel(item, *kFamilies)) models.push_back(*std::move(model));
    }
    hub::RemoveDuplicates(models);
    hub::SortModels(models, "trendingScore");
    hub::TakeTop(std::move(models), {});
  }
  RankedModel model;
  hub::TakeConfig(std::string(bytes), *kFamilies, options, model);
  // Every configuration is either usable or has a reason why not.
  if (model.excluded ? model.detail.empty() : model.config_json.empty()) __builtin_trap();
  const std::string text(bytes);
  const net::HttpResponse response{429, {{"ratelimit", text}, {"x-error-message", text}, {"retry-after", text}}, text};
  (void)hub::ReadRateLimit(response);
  (void)net::RetryAfter(response);
  (void)hub::ExplainAnswer(response, "a/b", "", options);
  (void)hub::NextLink(bytes);
  (void)hub::ResolveLocation("https://h.example/a", bytes);
  (void)hub::ParseNamedModel(bytes);
}

}  // namespace breakwatch::fuzz
