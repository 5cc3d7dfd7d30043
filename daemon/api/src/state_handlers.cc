// Lists of the published state: models, families, quarantine.
#include <array>
#include <map>

#include "handlers.h"
#include "json_values.h"
#include "page.h"
#include "selection.h"

namespace breakwatch::api {
namespace {

using nlohmann::ordered_json;

struct Totals {
  std::int64_t events = 0, sites = 0;
};

Totals TotalsOf(const Numbers& numbers) {
  Totals totals;
  for (const ReasonCount& r : numbers.reasons) totals.events += r.events, totals.sites += r.sites;
  return totals;
}

ordered_json ReasonsOf(const Numbers* numbers) {
  ordered_json list = ordered_json::array();
  if (numbers == nullptr) return list;
  for (const ReasonCount& r : numbers->reasons) {
    list.push_back({{"reason", r.reason}, {"gb_id", r.gb_id}, {"events", r.events}, {"sites", r.sites}});
  }
  return list;
}

ordered_json DocumentOf(const TrackedModel& m, const Numbers* n) {
  const auto number = [&](std::int64_t value) { return n != nullptr ? ordered_json(value) : ordered_json(); };
  const Totals totals = n != nullptr ? TotalsOf(*n) : Totals{};
  return {{"model", m.model},
          {"family", FamilyName(m.family)},
          {"commit", m.commit},
          {"status", StatusName(m.status)},
          {"status_detail", m.detail},
          {"suggestion", m.suggestion},
          {"rank", m.rank},
          {"downloads", OrNull(m.downloads)},
          {"in_ranking", m.in_ranking},
          {"attempted_at", TimeOrNull(m.attempted_at)},
          {"captured_at", n != nullptr ? TimeOrNull(n->captured_at) : ordered_json()},
          {"breaks", number(totals.events)},
          {"break_sites", number(totals.sites)},
          {"graphs", number(n != nullptr ? n->graphs : 0)},
          {"ops_captured", number(n != nullptr ? n->ops_captured : 0)},
          {"frames_fallback", number(n != nullptr ? n->frames_fallback : 0)},
          {"recompiles", number(n != nullptr ? n->recompiles : 0)},
          {"capture_id", n != nullptr ? ordered_json(n->capture_id) : ordered_json()},
          {"structure", n != nullptr ? ordered_json(n->structure) : ordered_json()},
          {"reasons", ReasonsOf(n)}};
}

// The value by which a list of models is sorted. A function of a model and its numbers, which may be null.
struct ModelSort {
  std::string_view name;
  SortKey (*key)(const TrackedModel& model, const Numbers* numbers);
};

SortKey NumberOf(const Numbers* numbers, std::int64_t value) {
  return {.missing = numbers == nullptr, .number = value};
}

constexpr std::array<ModelSort, 10> kModelSorts = {{
    {"rank", [](const TrackedModel& m, const Numbers*) { return SortKey{.missing = m.rank == 0, .number = m.rank}; }},
    {"model", [](const TrackedModel& m, const Numbers*) { return SortKey{.text = m.model}; }},
    {"family", [](const TrackedModel& m, const Numbers*) { return SortKey{.text = FamilyName(m.family)}; }},
    {"status", [](const TrackedModel& m, const Numbers*) { return SortKey{.text = StatusName(m.status)}; }},
    {"breaks",
     [](const TrackedModel&, const Numbers* n) { return NumberOf(n, n != nullptr ? TotalsOf(*n).events : 0); }},
    {"break_sites",
     [](const TrackedModel&, const Numbers* n) { return NumberOf(n, n != nullptr ? TotalsOf(*n).sites : 0); }},
    {"graphs", [](const TrackedModel&, const Numbers* n) { return NumberOf(n, n != nullptr ? n->graphs : 0); }},
    {"ops_captured",
     [](const TrackedModel&, const Numbers* n) { return NumberOf(n, n != nullptr ? n->ops_captured : 0); }},
    {"downloads", [](const TrackedModel& m,
                     const Numbers*) { return SortKey{.missing = !m.downloads, .number = m.downloads.value_or(0)}; }},
    {"captured_at",
     [](const TrackedModel&, const Numbers* n) {
       return NumberOf(n, n != nullptr ? n->captured_at.time_since_epoch().count() : 0);
     }},
}};

// The sort is one of the contract's values.
SortKey KeyOf(std::string_view sort, const TrackedModel& model, const Numbers* numbers) {
  const auto* found =
      std::find_if(kModelSorts.begin(), kModelSorts.end(), [&](const auto& s) { return s.name == sort; });
  SortKey key = found->key(model, numbers);
  key.id = model.model;
  return key;
}

ordered_json DocumentOf(const TrackedModel& m) {
  return {{"model", m.model},
          {"family", FamilyName(m.family)},
          {"commit", m.commit},
          {"rank", m.rank},
          {"status_detail", m.detail},
          {"suggestion", m.suggestion},
          {"attempted_at", TimeOrNull(m.attempted_at)}};
}

}  // namespace

Reply ListModels(Context& context, const Call& call) {
  const auto selection = Selection::Of(call, context.parts);
  if (!selection) return Problem(selection.error());
  const bool downwards = call.Get("sort").starts_with('-');
  const std::string sort = call.Get("sort").substr(downwards ? 1 : 0);
  return WithSnapshot(context, [&](const Snapshot& snapshot) {
    std::vector<Sorted<TrackedModel>> rows;
    std::int64_t with_numbers = 0;
    for (const TrackedModel& model : snapshot.models) {
      const Numbers* numbers = snapshot.NumbersOf(model);
      with_numbers += numbers != nullptr ? 1 : 0;
      if (selection->Matches(model, numbers)) rows.push_back({KeyOf(sort, model, numbers), &model});
    }
    const std::size_t matched = rows.size();
    const auto page = PageOf(std::move(rows), downwards, call.Get("cursor"), call.Limit());
    if (!page) return Problem(page.error());
    ordered_json models = ordered_json::array();
    for (const TrackedModel* model : page->rows) models.push_back(DocumentOf(*model, snapshot.NumbersOf(*model)));
    return Json({{"toolchain", snapshot.toolchain_key},
                 {"models_tracked", snapshot.models.size()},
                 {"models_with_numbers", with_numbers},
                 {"models_matched", matched},
                 {"models", std::move(models)},
                 {"next", page->next}});
  });
}

Reply ListFamilies(Context& context, const Call&) {
  struct Row {
    std::int64_t tracked = 0, with_numbers = 0, full_graph = 0;
    Totals totals{};
    std::map<std::string, std::int64_t> statuses{};
  };
  return WithSnapshot(context, [](const Snapshot& snapshot) {
    std::map<Family, Row> rows;
    for (const TrackedModel& model : snapshot.models) {
      Row& row = rows[model.family];
      ++row.tracked, ++row.statuses[std::string(StatusName(model.status))];
      const Numbers* numbers = snapshot.NumbersOf(model);
      if (numbers == nullptr) continue;
      const Totals totals = TotalsOf(*numbers);
      ++row.with_numbers, row.full_graph += totals.events == 0 ? 1 : 0;
      row.totals.events += totals.events, row.totals.sites += totals.sites;
    }
    ordered_json families = ordered_json::array();
    for (const auto& [family, row] : rows) {
      const auto share = row.with_numbers > 0
                             ? ordered_json(static_cast<double>(row.full_graph) / static_cast<double>(row.with_numbers))
                             : ordered_json();
      families.push_back({{"family", FamilyName(family)},
                          {"models_tracked", row.tracked},
                          {"models_with_numbers", row.with_numbers},
                          {"full_graph", row.full_graph},
                          {"full_graph_share", share},
                          {"breaks", row.totals.events},
                          {"break_sites", row.totals.sites},
                          {"statuses", row.statuses}});
    }
    return Json({{"toolchain", snapshot.toolchain_key}, {"families", std::move(families)}});
  });
}

Reply ListQuarantine(Context& context, const Call&) {
  constexpr std::size_t kMax = 10'000;
  return WithSnapshot(context, [](const Snapshot& snapshot) {
    ordered_json models = ordered_json::array();
    for (const TrackedModel& model : snapshot.models) {
      if (model.status == Status::kQuarantined && models.size() < kMax) models.push_back(DocumentOf(model));
    }
    return Json({{"quarantine", std::move(models)}});
  });
}

}  // namespace breakwatch::api
