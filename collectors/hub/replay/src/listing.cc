#include "listing.h"

#include <algorithm>
#include <map>

#include "breakwatch/core/text.h"

namespace breakwatch::hub_replay {
namespace {

bool HasTag(const Json& body, const std::string& tag) {
  if (Text(body, "pipeline_tag") == tag || Text(body, "library_name") == tag) return true;
  const auto tags = body.find("tags");
  return tags != body.end() && tags->is_array() && std::find(tags->begin(), tags->end(), Json(tag)) != tags->end();
}

bool IsServedBy(const Json& body, const std::string& provider) {
  const auto mapping = body.find("inferenceProviderMapping");
  if (mapping == body.end() || mapping->empty()) return false;
  if (provider == "all") return true;
  if (mapping->is_object()) return mapping->contains(provider);
  return std::any_of(mapping->begin(), mapping->end(),
                     [&](const Json& entry) { return entry.is_object() && Text(entry, "provider") == provider; });
}

bool IsGated(const Json& body) {
  const auto gated = body.find("gated");
  return gated != body.end() && (gated->is_string() || *gated == true);
}

// The sort value of a model; null if it has none.
Json SortValue(const Json& body, const std::string& sort) {
  static const std::map<std::string, Json::json_pointer> kElsewhere = {
      {"num_parameters", Json::json_pointer("/safetensors/total")}, {"mainSize", Json::json_pointer("/usedStorage")}};
  if (sort == "createdAt") return nullptr;
  const auto elsewhere = kElsewhere.find(sort);
  return body.value(elsewhere == kElsewhere.end() ? Json::json_pointer("/" + sort) : elsewhere->second, Json());
}

bool IsInRange(const Json& body, const ListQuery& query) {
  if (!query.min_params && !query.max_params) return true;
  const Json total = SortValue(body, "num_parameters");
  if (!total.is_number()) return false;
  const auto number = total.get<double>();
  return number >= query.min_params.value_or(0) && (!query.max_params || number <= *query.max_params);
}

struct Ranked {
  Json value;
  std::string id;
  const Json* body;
};

std::vector<Ranked> Rank(const std::vector<const Json*>& models, const ListQuery& query) {
  std::vector<Ranked> ranked;
  for (const Json* body : models) {
    if (Matches(*body, query)) ranked.push_back({SortValue(*body, query.sort), Text(*body, "_id"), body});
  }
  std::sort(ranked.begin(), ranked.end(), [&](const Ranked& a, const Ranked& b) {
    if (query.sort == "createdAt") return a.id > b.id;
    if (a.value == b.value) return a.id < b.id;
    if (a.value.is_null() || b.value.is_null()) return b.value.is_null();
    return b.value < a.value;
  });
  return ranked;
}

std::string SearchText(const ListQuery& query) {
  std::string text;
  for (const std::string& word : query.search) text += word + '\n';
  return text;
}

}  // namespace

bool Matches(const Json& body, const ListQuery& query) {
  const std::string id = Text(body, "id"), lower = Lower(id);
  const auto in_id = [&](const std::string& word) { return lower.find(word) != std::string::npos; };
  const auto in_tags = [&](const std::string& tag) { return HasTag(body, tag); };
  const auto in_providers = [&](const std::string& provider) { return IsServedBy(body, provider); };
  return std::all_of(query.search.begin(), query.search.end(), in_id) &&
         std::all_of(query.filters.begin(), query.filters.end(), in_tags) &&
         std::all_of(query.providers.begin(), query.providers.end(), in_providers) &&
         (query.author.empty() || id.starts_with(query.author + "/")) &&
         (query.pipeline_tag.empty() || Text(body, "pipeline_tag") == query.pipeline_tag) &&
         (query.library.empty() || in_tags(query.library)) &&
         (query.inference.empty() || Text(body, "inference") == query.inference) &&
         (!query.gated || IsGated(body) == *query.gated) && IsInRange(body, query);
}

Result<Page> MakePage(const std::vector<const Json*>& models, const ListQuery& query, bool repeat_last) {
  const std::vector<Ranked> ranked = Rank(models, query);
  auto first = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(query.skip, ranked.size()));
  if (!query.cursor.empty()) {
    const auto cursor = DecodeCursor(query.cursor, query.sort, SearchText(query));
    if (!cursor) return cursor.error();
    first = std::find_if(ranked.begin(), ranked.end(),
                         [&](const Ranked& model) { return cursor->Selects(model.value, model.id); });
  }
  Page page;
  // One extra entry: a page of size one that repeats the previous model would never advance.
  const std::size_t size = query.limit + (repeat_last && !query.cursor.empty() ? 1 : 0);
  for (; first != ranked.end() && page.models.size() < size; ++first) page.models.push_back(first->body);
  if (first != ranked.end()) {
    const Ranked& last = *std::prev(first);
    page.next_cursor = EncodeCursor({query.sort, last.value, last.id, repeat_last, SearchText(query)});
  }
  return page;
}

Json Shown(const Json& body, const ListQuery& query) {
  if (!query.expand.empty()) return Expanded(body, query.expand);
  std::vector<std::string> fields = {"likes",        "trendingScore", "private",   "downloads", "tags",
                                     "pipeline_tag", "library_name",  "createdAt", "modelId"};
  if (query.full) {
    for (const char* name : {"author", "gated", "disabled", "lastModified", "sha", "siblings"})
      fields.emplace_back(name);
  }
  if (query.config) fields.emplace_back("config");
  if (query.card_data) fields.emplace_back("cardData");
  Json shown = Expanded(body, fields);
  shown["modelId"] = body["id"];
  return shown;
}

}  // namespace breakwatch::hub_replay
