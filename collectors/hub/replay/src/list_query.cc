#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "breakwatch/core/text.h"
#include "listing.h"

namespace breakwatch::hub_replay {
namespace {

constexpr std::array<std::string_view, 33> kExpand = {
    "author",       "baseModels",   "cardData",      "childrenModelCount", "config",
    "createdAt",    "disabled",     "downloads",     "downloadsAllTime",   "evalResults",
    "gated",        "gguf",         "gitalyUid",     "inference",          "inferenceProviderMapping",
    "lastModified", "library_name", "likes",         "mask_token",         "model-index",
    "pipeline_tag", "private",      "resourceGroup", "safetensors",        "sha",
    "siblings",     "spaces",       "tags",          "transformersInfo",   "trendingScore",
    "usedStorage",  "widgetData",   "xetEnabled"};
constexpr std::array<std::string_view, 9> kSorts = {
    "createdAt", "downloads", "id", "lastModified", "likes", "likes30d", "mainSize", "num_parameters", "trendingScore"};
constexpr std::size_t kMaxLimit = 1000;

Error Bad(std::string text) { return {ErrorCode::kInvalid, std::move(text)}; }

void AddSplit(std::string_view value, std::vector<std::string>& out) {
  while (!value.empty()) {
    const std::string_view part = value.substr(0, value.find(','));
    value.remove_prefix(std::min(value.size(), part.size() + 1));
    if (!part.empty()) out.emplace_back(part);
  }
}

std::size_t NumberOr(std::string_view text, std::size_t otherwise) {
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() && number > 0 ? number : otherwise;
}

// "6B", "350M", "1.5K", "1000"
std::optional<double> Magnitude(std::string_view text) {
  static const std::map<char, double> kUnits = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}};
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || number < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit.empty()) return number;
  const auto found = kUnits.find(unit[0] >= 'a' ? static_cast<char>(unit[0] - 'a' + 'A') : unit[0]);
  if (unit.size() != 1 || found == kUnits.end()) return std::nullopt;
  return number * found->second;
}

// "min:6B,max:128B"; one of them may be missing
bool ReadRange(const std::string& value, ListQuery& query) {
  std::vector<std::string> bounds;
  AddSplit(value, bounds);
  for (const std::string& bound : bounds) {
    const auto number = Magnitude(std::string_view(bound).substr(std::min<std::size_t>(4, bound.size())));
    if (!number) return false;
    if (bound.starts_with("min:")) {
      query.min_params = number;
    } else if (bound.starts_with("max:")) {
      query.max_params = number;
    } else {
      return false;
    }
  }
  return true;
}

using Read = void (*)(const std::string& value, ListQuery& query);
const std::map<std::string, Read>& Parameters() {
  static const std::map<std::string, Read> kParameters = {
      {"search", [](const auto& value, auto& query) { query.search.push_back(Lower(value)); }},
      {"filter", [](const auto& value, auto& query) { AddSplit(value, query.filters); }},
      {"apps", [](const auto& value, auto& query) { AddSplit(value, query.filters); }},
      {"inference_provider", [](const auto& value, auto& query) { AddSplit(value, query.providers); }},
      {"author", [](const auto& value, auto& query) { query.author = value; }},
      {"pipeline_tag", [](const auto& value, auto& query) { query.pipeline_tag = value; }},
      {"library", [](const auto& value, auto& query) { query.library = value; }},
      {"inference", [](const auto& value, auto& query) { query.inference = value; }},
      {"gated", [](const auto& value, auto& query) { query.gated = IsTrue(value); }},
      {"sort", [](const auto& value, auto& query) { query.sort = value; }},
      {"limit", [](const auto& value, auto& query) { query.limit = std::min(kMaxLimit, NumberOr(value, kMaxLimit)); }},
      {"skip", [](const auto& value, auto& query) { query.skip = NumberOr(value, 0); }},
      {"cursor", [](const auto& value, auto& query) { query.cursor = value; }},
      {"full", [](const auto& value, auto& query) { query.full = IsTrue(value); }},
      {"config", [](const auto& value, auto& query) { query.config = IsTrue(value); }},
      {"cardData", [](const auto& value, auto& query) { query.card_data = IsTrue(value); }}};
  return kParameters;
}

}  // namespace

Result<ListQuery> ParseListQuery(const Pairs& pairs) {
  ListQuery query;
  for (const auto& [name, value] : pairs) {
    if (const auto read = Parameters().find(name); read != Parameters().end()) read->second(value, query);
    if (name == "num_parameters" && !ReadRange(value, query)) return Bad("Invalid num_parameters: " + value);
  }
  query.expand = ExpandOf(pairs);
  if (auto known = CheckExpand(query.expand); !known) return known.error();
  if (std::find(kSorts.begin(), kSorts.end(), query.sort) == kSorts.end()) {
    return Bad("Invalid sort parameter: " + query.sort);
  }
  return query;
}

std::vector<std::string> ExpandOf(const Pairs& query) {
  std::vector<std::string> expand;
  for (const auto& [name, value] : query) {
    if (name == "expand" || name == "expand[]") expand.push_back(value);
  }
  return expand;
}

Result<void> CheckExpand(const std::vector<std::string>& expand) {
  for (const std::string& name : expand) {
    if (std::find(kExpand.begin(), kExpand.end(), name) != kExpand.end()) continue;
    std::string text = "\"expand\" must be one of [";
    for (const std::string_view known : kExpand) text.append(known == kExpand.front() ? "" : ", ").append(known);
    return Bad(text + "]");
  }
  return {};
}

Json Expanded(const Json& body, const std::vector<std::string>& expand) {
  Json shown = {{"_id", body["_id"]}, {"id", body["id"]}};
  for (const std::string& name : expand) {
    if (const auto field = body.find(name); field != body.end()) shown[name] = *field;
  }
  return shown;
}

}  // namespace breakwatch::hub_replay
