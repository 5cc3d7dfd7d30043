// Reasons and sites of the tracked models.
#include <array>
#include <map>
#include <set>

#include "breakwatch/core/fixability.h"
#include "breakwatch/core/reason_url.h"
#include "handlers.h"
#include "json_values.h"
#include "page.h"
#include "selection.h"

namespace breakwatch::api {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxShown = 1'000;  // models and sites of one reason or site

// --- reasons

struct ReasonRow {
  const ReasonInfo* info = nullptr;
  std::int64_t events = 0, sites = 0, models = 0, downloads = 0, tried = 0, made_whole = 0;
  std::map<std::string, std::int64_t> families{};  // models by family
  std::map<std::string, std::int64_t> fixed_by{};  // models by fix
};

void CountFixes(const FixEffects* effects, bool is_only_reason, const ReasonCount& count, ReasonRow& row) {
  const ReasonFixes* fixes = effects != nullptr ? effects->OfReason(count.reason, count.gb_id) : nullptr;
  if (fixes == nullptr) return;
  ++row.tried;
  if (is_only_reason && effects->IsWhole()) ++row.made_whole;
  for (const std::string& fix : fixes->removed_by) ++row.fixed_by[fix];
}

std::vector<ReasonRow> ReasonRows(const Snapshot& snapshot, const Selection& selection) {
  std::map<std::pair<std::string, std::string>, ReasonRow> rows;
  for (const ReasonInfo& info : snapshot.reasons) rows[{info.reason, info.gb_id}].info = &info;
  for (const TrackedModel& model : snapshot.models) {
    const Numbers* numbers = snapshot.NumbersOf(model);
    if (numbers == nullptr || !selection.Matches(model, numbers)) continue;
    for (const ReasonCount& r : numbers->reasons) {
      ReasonRow& row = rows[{r.reason, r.gb_id}];
      row.events += r.events, row.sites += r.sites, ++row.models;
      row.downloads += model.downloads.value_or(0);
      ++row.families[std::string(FamilyName(model.family))];
      CountFixes(snapshot.FixesOf(model), numbers->reasons.size() == 1, r, row);
    }
  }
  std::vector<ReasonRow> out;
  for (auto& [key, row] : rows) {
    if (row.info != nullptr && row.models > 0) out.push_back(std::move(row));
  }
  return out;
}

ordered_json DocumentOf(const ReasonRow& row) {
  return {{"reason", row.info->reason},   {"gb_id", row.info->gb_id},       {"fixability", row.info->fixability},
          {"url", row.info->url},         {"events", row.events},           {"sites", row.sites},
          {"models", row.models},         {"leverage", row.info->leverage}, {"downloads", row.downloads},
          {"families", row.families},     {"category", row.info->category}, {"tried", row.tried},
          {"made_whole", row.made_whole}, {"fixed_by", row.fixed_by}};
}

SortKey KeyOf(const ReasonRow& row, std::string_view sort) {
  const std::array<std::pair<std::string_view, std::int64_t>, 5> numbers = {{{"events", row.events},
                                                                             {"sites", row.sites},
                                                                             {"models", row.models},
                                                                             {"leverage", row.info->leverage},
                                                                             {"downloads", row.downloads}}};
  for (const auto& [name, value] : numbers) {
    if (name == sort) return {.number = value, .id = row.info->reason};
  }
  return {.text = row.info->reason, .id = row.info->gb_id};
}

// --- sites

struct SiteRow {
  const SitePlace* place = nullptr;
  std::int64_t models = 0, events = 0, downloads = 0;
  std::set<std::string> families{};
  std::string example{};
  std::string_view fixability = kUntested;  // on most of the models
};

// The pointers of the snapshot that the uses are of are valid as long as it is.
std::string_view FixabilityOf(const Snapshot& snapshot, const SiteUse& use) {
  const FixEffects* effects = snapshot.FixesOf(*use.model);
  if (effects == nullptr) return kUntested;
  const auto found = effects->sites.find(use.place->site_id);
  return found == effects->sites.end() ? kUntested : std::string_view(found->second);
}

// `uses` is not empty.
SiteRow RowOf(const Snapshot& snapshot, const std::vector<SiteUse>& uses) {
  SiteRow row{.place = uses.front().place};
  int best = 0;
  std::vector<std::string_view> fixability;
  for (const SiteUse& use : uses) {
    fixability.push_back(FixabilityOf(snapshot, use));
    ++row.models, row.events += use.place->occurrences;
    row.downloads += use.model->downloads.value_or(0);
    row.families.insert(std::string(FamilyName(use.model->family)));
    const int rank = use.model->rank == 0 ? INT32_MAX : use.model->rank;
    if (row.example.empty() || rank < best) row.example = use.model->model, best = rank;
  }
  row.fixability = MostSeen(fixability);
  return row;
}

ordered_json DocumentOf(const SiteRow& row) {
  const SitePlace& p = *row.place;
  return {{"site_id", p.site_id},
          {"reason", p.reason},
          {"gb_id", p.gb_id},
          {"fixability", row.fixability},
          {"file", p.file},
          {"line", p.line},
          {"function", p.function},
          {"models", row.models},
          {"events", row.events},
          {"families", row.families},
          {"downloads", row.downloads},
          {"example_model", row.example},
          {"category", p.fixability}};
}

SortKey KeyOf(const SiteRow& row, std::string_view sort) {
  const std::string_view id = row.place->site_id;
  if (sort == "models") return {.number = row.models, .id = id};
  if (sort == "events") return {.number = row.events, .id = id};
  if (sort == "downloads") return {.number = row.downloads, .id = id};
  return {.text = row.place->file, .id = id};
}

std::vector<SiteRow> RowsOf(const Snapshot& snapshot, const SiteUses& uses) {
  std::vector<SiteRow> rows;
  for (const auto& [site, at] : uses.by_site) rows.push_back(RowOf(snapshot, at));
  return rows;
}

struct Order {
  explicit Order(const std::string& sort) : downwards(sort.starts_with('-')), name(sort.substr(downwards ? 1 : 0)) {}
  bool downwards;
  std::string name;
};

template <class Row>
Result<SortedPage<Row>> PageOfRows(const std::vector<Row>& rows, const Order& order, const std::string& cursor,
                                   int limit) {
  std::vector<Sorted<Row>> sorted;
  for (const Row& row : rows) sorted.push_back({KeyOf(row, order.name), &row});
  return PageOf(std::move(sorted), order.downwards, cursor, limit);
}

// The first of a list, by rank.
std::vector<const TrackedModel*> ByRank(std::vector<const TrackedModel*> models) {
  std::stable_sort(models.begin(), models.end(), [](const TrackedModel* a, const TrackedModel* b) {
    return (a->rank == 0 ? INT32_MAX : a->rank) < (b->rank == 0 ? INT32_MAX : b->rank);
  });
  if (models.size() > kMaxShown) models.resize(kMaxShown);
  return models;
}

ordered_json ModelsWithReason(const Snapshot& snapshot, const ReasonInfo& info) {
  std::map<const TrackedModel*, const ReasonCount*> counts;
  std::vector<const TrackedModel*> models;
  for (const TrackedModel& model : snapshot.models) {
    const Numbers* numbers = snapshot.NumbersOf(model);
    if (numbers == nullptr) continue;
    for (const ReasonCount& r : numbers->reasons) {
      if (r.reason == info.reason && r.gb_id == info.gb_id) counts[&model] = &r, models.push_back(&model);
    }
  }
  ordered_json list = ordered_json::array();
  for (const TrackedModel* model : ByRank(std::move(models))) {
    const ReasonCount& count = *counts[model];
    list.push_back({{"model", model->model},
                    {"family", FamilyName(model->family)},
                    {"commit", model->commit},
                    {"rank", model->rank},
                    {"downloads", OrNull(model->downloads)},
                    {"events", count.events},
                    {"sites", count.sites},
                    {"only_reason", snapshot.NumbersOf(*model)->reasons.size() == 1}});
  }
  return list;
}

}  // namespace

Reply ListReasons(Context& context, const Call& call) {
  const auto selection = Selection::Of(call, context.parts);
  if (!selection) return Problem(selection.error());
  return WithSnapshot(context, [&](const Snapshot& snapshot) {
    const std::vector<ReasonRow> rows = ReasonRows(snapshot, *selection);
    const auto page = PageOfRows(rows, Order(call.Get("sort")), "", INT32_MAX);
    ordered_json reasons = ordered_json::array();
    for (const ReasonRow* row : page->rows) reasons.push_back(DocumentOf(*row));
    return Json({{"reasons", std::move(reasons)}});
  });
}

Reply GetReason(Context& context, const Call& call) {
  const std::string& wanted = call.Get("reason");
  return WithSnapshot(context, [&](const Snapshot& snapshot) {
    const std::vector<ReasonRow> rows = ReasonRows(snapshot, {});
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const ReasonRow& r) {
      return (!r.info->gb_id.empty() && r.info->gb_id == wanted) || r.info->reason == wanted;
    });
    if (row == rows.end()) return Problem(404, "no tracked model has reason \"" + wanted + "\"");
    const auto uses = context.sites.Of(snapshot, [](const TrackedModel&) { return true; });
    if (!uses) return Problem(uses.error());
    std::vector<SiteRow> sites = RowsOf(snapshot, *uses);
    std::erase_if(sites, [&](const SiteRow& site) {
      return site.place->reason != row->info->reason || site.place->gb_id != row->info->gb_id;
    });
    ordered_json at = ordered_json::array();
    const auto page = PageOfRows(sites, Order("-models"), "", kMaxShown);
    for (const SiteRow* site : page->rows) at.push_back(DocumentOf(*site));
    ordered_json document = DocumentOf(*row);
    document["with_reason"] = ModelsWithReason(snapshot, *row->info);
    document["at"] = std::move(at);
    return Json(document);
  });
}

Reply ListSites(Context& context, const Call& call) {
  const auto selection = Selection::Of(call, context.parts);
  if (!selection) return Problem(selection.error());
  return WithSnapshot(context, [&](const Snapshot& snapshot) {
    const auto uses = context.sites.Of(
        snapshot, [&](const TrackedModel& model) { return selection->Matches(model, snapshot.NumbersOf(model)); });
    if (!uses) return Problem(uses.error());
    std::vector<SiteRow> rows = RowsOf(snapshot, *uses);
    const std::string &file = call.Get("file"), &reason = call.Get("reason"), &gb_id = call.Get("gb_id");
    std::erase_if(rows, [&](const SiteRow& row) {
      return row.place->file.find(file) == std::string::npos || (!reason.empty() && row.place->reason != reason) ||
             (!gb_id.empty() && row.place->gb_id != gb_id);
    });
    const auto page = PageOfRows(rows, Order(call.Get("sort")), call.Get("cursor"), call.Limit());
    if (!page) return Problem(page.error());
    ordered_json sites = ordered_json::array();
    for (const SiteRow* row : page->rows) sites.push_back(DocumentOf(*row));
    return Json({{"sites_matched", rows.size()}, {"sites", std::move(sites)}, {"next", page->next}});
  });
}

Reply GetSite(Context& context, const Call& call) {
  const std::string& id = call.Get("site_id");
  return WithSnapshot(context, [&](const Snapshot& snapshot) {
    const auto uses = context.sites.Of(snapshot, [](const TrackedModel&) { return true; });
    if (!uses) return Problem(uses.error());
    const auto found = uses->by_site.find(id);
    if (found == uses->by_site.end()) return Problem(404, "no tracked model has site \"" + id + "\"");
    const SiteRow row = RowOf(snapshot, found->second);
    const auto capture = context.parts.queries.LoadCapture(found->second.front().numbers->capture_id);
    if (!capture) return Problem(capture.error());
    const auto site =
        std::find_if(capture->sites.begin(), capture->sites.end(), [&](const BreakSite& s) { return s.site_id == id; });
    const BreakSite detail = site == capture->sites.end() ? BreakSite{} : *site;
    std::map<const TrackedModel*, const SiteUse*> by_model;
    std::vector<const TrackedModel*> models;
    for (const SiteUse& use : found->second) by_model[use.model] = &use, models.push_back(use.model);
    ordered_json with_site = ordered_json::array();
    for (const TrackedModel* model : ByRank(std::move(models))) {
      const SiteUse& use = *by_model[model];
      with_site.push_back({{"model", model->model},
                           {"family", FamilyName(model->family)},
                           {"commit", model->commit},
                           {"rank", model->rank},
                           {"downloads", OrNull(model->downloads)},
                           {"line", use.place->line},
                           {"events", use.place->occurrences},
                           {"capture_id", use.numbers->capture_id}});
    }
    ordered_json document = DocumentOf(row);
    document.update({{"url", ReasonUrl(row.place->gb_id)},
                     {"explanation", detail.explanation},
                     {"context", detail.context},
                     {"hints", detail.hints},
                     {"source_line", detail.source_line},
                     {"frame", detail.frame},
                     {"module_path", detail.module_path},
                     {"stack", detail.stack},
                     {"stack_source", detail.stack_source}});
    document["with_site"] = std::move(with_site);
    return Json(document);
  });
}

}  // namespace breakwatch::api
