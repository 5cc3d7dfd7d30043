#include "documents.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "breakwatch/core/json_text.h"

namespace breakwatch::api {
namespace {

using nlohmann::ordered_json;

std::string Dump(const ordered_json& document) { return JsonDocument(document, 1); }

const char* CodeOfStatus(int status) {
  switch (status) {
    case 401:
      return "unauthorized";
    case 403:
      return "forbidden";
    case 404:
      return "not_found";
    case 405:
      return "method_not_allowed";
    case 413:
    case 414:
      return "too_long";
    case 415:
      return "unsupported_type";
    case 503:
      return "unavailable";
    default:
      return status < 500 ? "usage" : "internal";
  }
}

ordered_json ReasonsOf(const Numbers& numbers) {
  ordered_json list = ordered_json::array();
  for (const ReasonCount& r : numbers.reasons) {
    list.push_back({{"reason", r.reason}, {"gb_id", r.gb_id}, {"events", r.events}, {"sites", r.sites}});
  }
  return list;
}

ordered_json ModelOf(const TrackedModel& model, const Numbers* numbers) {
  ordered_json out = {{"model", model.model},
                      {"family", FamilyName(model.family)},
                      {"commit", model.commit},
                      {"status", StatusName(model.status)},
                      {"status_detail", model.detail},
                      {"rank", model.rank},
                      {"downloads", model.downloads ? ordered_json(*model.downloads) : ordered_json()},
                      {"in_ranking", model.in_ranking}};
  if (!model.suggestion.empty()) out["suggestion"] = model.suggestion;
  if (numbers == nullptr) return out;
  std::int64_t breaks = 0, sites = 0;
  for (const ReasonCount& r : numbers->reasons) breaks += r.events, sites += r.sites;
  out["breaks"] = breaks;
  out["break_sites"] = sites;
  out["graphs"] = numbers->graphs;
  out["ops_captured"] = numbers->ops_captured;
  out["structure"] = numbers->structure;
  out["reasons"] = ReasonsOf(*numbers);
  return out;
}

bool HasReason(const Numbers* numbers, const ModelFilter& filter) {
  if (filter.reason.empty() && filter.gb_id.empty()) return true;
  if (numbers == nullptr) return false;
  return std::any_of(numbers->reasons.begin(), numbers->reasons.end(), [&](const ReasonCount& r) {
    return (filter.reason.empty() || r.reason == filter.reason) && (filter.gb_id.empty() || r.gb_id == filter.gb_id);
  });
}

bool Passes(const TrackedModel& model, const Numbers* numbers, const ModelFilter& filter) {
  return (filter.family.empty() || FamilyName(model.family) == filter.family) &&
         (filter.status.empty() || StatusName(model.status) == filter.status) && HasReason(numbers, filter);
}

std::string_view CodeName(ErrorCode code) {
  constexpr std::string_view kNames[] = {"usage",     "configuration", "store",       "unavailable",
                                         "not_found", "invalid",       "interrupted", "internal"};
  return kNames[static_cast<std::size_t>(code)];
}

}  // namespace

std::string ModelsDocument(const Snapshot& snapshot, const ModelFilter& filter) {
  std::vector<const TrackedModel*> order;
  std::size_t with_numbers = 0;
  for (const TrackedModel& model : snapshot.models) {
    const Numbers* numbers = snapshot.NumbersOf(model);
    with_numbers += numbers != nullptr ? 1 : 0;
    if (Passes(model, numbers, filter)) order.push_back(&model);
  }
  std::stable_sort(order.begin(), order.end(), [](const TrackedModel* a, const TrackedModel* b) {
    return (a->rank == 0 ? INT32_MAX : a->rank) < (b->rank == 0 ? INT32_MAX : b->rank);
  });
  if (filter.limit != 0 && order.size() > filter.limit) order.resize(filter.limit);
  ordered_json models = ordered_json::array();
  for (const TrackedModel* model : order) models.push_back(ModelOf(*model, snapshot.NumbersOf(*model)));
  return Dump({{"toolchain", snapshot.toolchain_key},
               {"models_tracked", snapshot.models.size()},
               {"models_with_numbers", with_numbers},
               {"models", std::move(models)}});
}

std::string ReasonsDocument(const Snapshot& snapshot) {
  struct Total {
    std::int64_t events = 0, sites = 0, models = 0;
  };
  std::map<std::pair<std::string, std::string>, Total> totals;
  for (const TrackedModel& model : snapshot.models) {
    const Numbers* numbers = snapshot.NumbersOf(model);
    if (numbers == nullptr) continue;
    for (const ReasonCount& r : numbers->reasons) {
      Total& total = totals[{r.reason, r.gb_id}];
      total.events += r.events, total.sites += r.sites, ++total.models;
    }
  }
  std::vector<std::pair<Total, const ReasonInfo*>> rows;
  for (const ReasonInfo& info : snapshot.reasons) rows.emplace_back(totals[{info.reason, info.gb_id}], &info);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first.events > b.first.events; });
  ordered_json reasons = ordered_json::array();
  for (const auto& [total, info] : rows) {
    reasons.push_back({{"reason", info->reason},
                       {"gb_id", info->gb_id},
                       {"fixability", info->fixability},
                       {"url", info->url},
                       {"events", total.events},
                       {"sites", total.sites},
                       {"models", total.models},
                       {"leverage", info->leverage}});
  }
  return Dump({{"reasons", std::move(reasons)}});
}

std::string ErrorDocument(const Error& error) {
  return Dump({{"error", {{"code", CodeName(error.code)}, {"message", error.message}}}});
}

std::string ErrorDocument(int status, const std::string& message) {
  return Dump({{"error", {{"code", CodeOfStatus(status)}, {"message", message}}}});
}

}  // namespace breakwatch::api
