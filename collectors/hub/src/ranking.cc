#include "ranking.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "breakwatch/core/choices.h"
#include "breakwatch/core/text.h"

namespace breakwatch::hub {
namespace {

const std::map<std::string, std::string>& SortNames() {
  static const std::map<std::string, std::string> kNames = {
      {"downloads", "downloads"},         {"likes", "likes"},
      {"lastModified", "lastModified"},   {"last_modified", "lastModified"},
      {"createdAt", "createdAt"},         {"created_at", "createdAt"},
      {"trendingScore", "trendingScore"}, {"trending_score", "trendingScore"},
  };
  return kNames;
}

// The sort key of a model, or nothing if it has no value.
struct Key {
  bool known = false;
  double number = 0;  // counts are far below 2^53
  std::string text;
};

Key KeyOf(const ListedModel& model, const std::string& sort_key) {
  const auto number = [](const auto& value) { return value ? Key{true, static_cast<double>(*value), ""} : Key{}; };
  const auto text = [](const std::string& value) { return Key{!value.empty(), 0, value}; };
  if (sort_key == "likes") return number(model.info.likes);
  if (sort_key == "trendingScore") return number(model.trending_score);
  if (sort_key == "lastModified") return text(model.last_modified);
  if (sort_key == "createdAt") return text(model.created_at);
  return number(model.info.downloads);
}

bool HasTag(const ListedModel& model, const std::string& tag) {
  return tag == model.info.task || tag == model.info.library ||
         std::find(model.tags.begin(), model.tags.end(), tag) != model.tags.end();
}

bool IsInRange(const ModelInfo& info, const ListRequest& request) {
  if (!info.params) return true;
  return (!request.min_params || *info.params >= *request.min_params) &&
         (!request.max_params || *info.params <= *request.max_params);
}

}  // namespace

Result<std::string> SortKey(const std::string& name) {
  const auto found = SortNames().find(name);
  if (found != SortNames().end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [spelling, key] : SortNames()) names.push_back(spelling);
  const auto nearest = NearestName(name, names);
  return Error{ErrorCode::kUsage, "unknown sort \"" + name + "\"" +
                                      (nearest ? ", did you mean \"" + *nearest + "\"?" : ": " + OneOf(AllSorts()))};
}

void SortModels(std::vector<ListedModel>& models, const std::string& sort_key) {
  std::stable_sort(models.begin(), models.end(), [&](const ListedModel& a, const ListedModel& b) {
    const Key key_a = KeyOf(a, sort_key);
    const Key key_b = KeyOf(b, sort_key);
    if (key_a.known != key_b.known) return key_a.known;
    if (key_a.number != key_b.number) return key_a.number > key_b.number;
    if (key_a.text != key_b.text) return key_a.text > key_b.text;
    if (a.info.hub_id.empty() != b.info.hub_id.empty()) return b.info.hub_id.empty();
    return std::tie(a.info.hub_id, a.info.id) < std::tie(b.info.hub_id, b.info.id);
  });
}

int RemoveDuplicates(std::vector<ListedModel>& models) {
  std::set<std::string> seen;
  const auto is_again = [&](const ListedModel& model) {
    return !seen.insert(model.info.hub_id.empty() ? model.info.id : "_id " + model.info.hub_id).second;
  };
  return static_cast<int>(std::erase_if(models, is_again));
}

std::vector<ListedModel> TakeTop(std::vector<ListedModel> models, const ListRequest& request) {
  std::vector<ListedModel> top;
  std::map<Family, int> taken;
  for (ListedModel& model : models) {
    int& count = taken[request.per_family ? model.info.family : Family::kUnknown];
    if (count >= request.top) continue;
    ++count;
    model.info.rank = static_cast<int>(top.size()) + 1;
    top.push_back(std::move(model));
  }
  return top;
}

bool Matches(const ListedModel& model, const ListRequest& request) {
  const ModelInfo& info = model.info;
  const bool has_tags = std::all_of(request.filters.begin(), request.filters.end(),
                                    [&](const std::string& tag) { return HasTag(model, tag); });
  return has_tags && (request.library.empty() || HasTag(model, request.library)) &&
         (request.author.empty() || info.id.starts_with(request.author + "/")) &&
         (request.search.empty() || Lower(info.id).find(Lower(request.search)) != std::string::npos) &&
         (request.task.empty() || info.task == request.task) &&
         (!request.gated || *request.gated == !info.gated.empty()) && IsInRange(info, request);
}

}  // namespace breakwatch::hub
