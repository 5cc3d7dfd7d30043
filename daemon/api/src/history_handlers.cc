// Sweeps, their results and plans, captures, comparisons and dead letters: read from the store.
#include "breakwatch/core/json.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/trend_query.h"
#include "breakwatch/report/sweep.h"
#include "breakwatch/report/trends.h"
#include "handlers.h"
#include "json_values.h"
#include "lists.h"
#include "page.h"
#include "selection.h"

namespace breakwatch::api {
namespace {

using nlohmann::ordered_json;

Reply PlanPageOf(Context& context, const Call& call, const std::string& sweep_id) {
  const auto place = PlaceOfCursor(call.Get("cursor"));
  if (!place) return Problem(place.error());
  const auto page = context.parts.queries.PlanAfter(sweep_id, *place, call.Limit() + 1);
  if (!page) return Problem(page.error());
  std::int64_t total = 0;
  for (const auto& [action, count] : page->actions) total += count;
  Plan plan = page->plan;
  const auto limit = static_cast<std::size_t>(call.Limit());
  const bool more = plan.models.size() > limit;
  if (more) plan.models.resize(limit);
  ordered_json document = Parsed(breakwatch::ToJson(plan));
  ordered_json models = std::move(document["models"]);
  document.erase("models");
  for (ordered_json& model : models) model.erase("config");
  document["actions"] = page->actions;
  document["total"] = total;
  document["models"] = std::move(models);
  document["next"] = more ? ordered_json(std::to_string(page->places[limit - 1])) : ordered_json();
  return Json(document);
}

}  // namespace

Reply ListSweeps(Context& context, const Call& call) {
  const std::string& toolchain = call.Get("toolchain");
  const auto limit = static_cast<std::size_t>(call.Limit());
  std::string before = call.Get("cursor");
  std::vector<Sweep> page;
  bool more = true;
  for (int reads = 0; more && page.size() < limit && reads < kMaxReads; ++reads) {
    const auto sweeps = context.parts.queries.Sweeps(before, call.Limit() + 1);
    if (!sweeps) return Problem(sweeps.error().code == ErrorCode::kNotFound ? BadCursor() : sweeps.error());
    more = sweeps->size() > limit;
    for (std::size_t i = 0; i < std::min(sweeps->size(), limit) && page.size() < limit; ++i) {
      before = (*sweeps)[i].id;
      if (toolchain.empty() || (*sweeps)[i].toolchain.name == toolchain) page.push_back((*sweeps)[i]);
      more = more || (page.size() == limit && i + 1 < sweeps->size());
    }
  }
  return {.body = ListDocument("sweeps", page, more ? before : "")};
}

Reply GetSweep(Context& context, const Call& call) {
  const auto sweep = context.parts.queries.FindSweep(call.Get("id"));
  return sweep ? Reply{.body = breakwatch::ToJson(*sweep) + "\n"} : Problem(sweep.error());
}

Reply ListResultsOfSweep(Context& context, const Call& call) {
  if (auto mode = CheckMode(call); !mode) return Problem(mode.error());
  const auto selection = Selection::Of(call, context.parts);
  if (!selection) return Problem(selection.error());
  auto place = PlaceOfCursor(call.Get("cursor"));
  if (!place) return Problem(place.error());
  const auto sweep = context.parts.queries.FindSweep(call.Get("id"));
  if (!sweep) return Problem(sweep.error());
  const PageSize size{.rows = call.Limit(), .bytes = kMaxPageBytes};
  std::vector<std::string> documents;
  std::size_t bytes = 0;
  bool more = true;
  for (int reads = 0; reads < kMaxReads && more; ++reads) {
    const auto rows = context.parts.queries.ResultsAfter(sweep->id, call.Get("mode"), *place, size);
    if (!rows) return Problem(rows.error());
    more = !rows->empty();
    for (const PlacedResult& row : *rows) {
      if (IsFull(documents, bytes, call)) break;
      *place = row.place;
      if (!selection->Matches(row.result)) continue;
      documents.push_back(breakwatch::ToJson(row.result));
      bytes += documents.back().size();
    }
    if (IsFull(documents, bytes, call)) break;
  }
  if (more) {
    const auto rest = context.parts.queries.ResultsAfter(sweep->id, call.Get("mode"), *place, {.rows = 1, .bytes = 1});
    if (!rest) return Problem(rest.error());
    more = !rest->empty();
  }
  return {.body = ListDocument("results", documents, more ? std::to_string(*place) : "")};
}

Reply ListReasonsOfSweep(Context& context, const Call& call) {
  if (auto mode = CheckMode(call); !mode) return Problem(mode.error());
  const auto sweep = context.parts.queries.FindSweep(call.Get("id"));
  if (!sweep) return Problem(sweep.error());
  auto results = context.parts.queries.Results(sweep->id);
  if (!results) return Problem(results.error());
  const std::string& mode = call.Get("mode");
  if (!mode.empty()) std::erase_if(*results, [&](const ModelResult& result) { return result.capture.mode != mode; });
  const auto order = report::ParseReasonOrder(call.Get("by")).value_or(report::ReasonOrder::kEvents);
  return Json({{"reasons", Parsed(report::Render(report::ReasonTable(*results, order), report::Format::kJson))}});
}

Reply ListFailuresOfSweep(Context& context, const Call& call) {
  const auto sweep = context.parts.queries.FindSweep(call.Get("id"));
  if (!sweep) return Problem(sweep.error());
  const auto results = context.parts.queries.Results(sweep->id);
  if (!results) return Problem(results.error());
  return Json({{"failures", Parsed(report::Render(report::FailureTable(*results), report::Format::kJson))}});
}

Reply GetPlanOfSweep(Context& context, const Call& call) {
  const auto sweep = context.parts.queries.FindSweep(call.Get("id"));
  return sweep ? PlanPageOf(context, call, sweep->id) : Problem(sweep.error());
}

Reply GetPlan(Context& context, const Call& call) {
  const auto newest = context.parts.queries.Sweeps("", 1);
  if (!newest) return Problem(newest.error());
  if (newest->empty()) return Problem(404, "there is no sweep yet");
  return PlanPageOf(context, call, newest->front().id);
}

Reply GetCapture(Context& context, const Call& call) {
  const auto capture = context.parts.queries.LoadCapture(call.Get("id"));
  return capture ? Reply{.body = breakwatch::ToJson(*capture) + "\n"} : Problem(capture.error());
}

Reply Compare(Context& context, const Call& call) {
  if (auto mode = CheckMode(call); !mode) return Problem(mode.error());
  const auto place = PlaceOfCursor(call.Get("cursor"));
  if (!place) return Problem(place.error());
  const auto text = context.parts.queries.Compare({call.Get("a"), call.Get("b"), call.Get("mode"), call.Flag("all")});
  if (!text) return Problem(text.error());
  ordered_json document = Parsed(**text);
  ordered_json models = ordered_json::array();
  ordered_json all = std::move(document["models"]);
  const auto begin = std::min(static_cast<std::size_t>(*place), all.size());
  const auto end = std::min(begin + static_cast<std::size_t>(call.Limit()), all.size());
  for (std::size_t i = begin; i < end; ++i) models.push_back(std::move(all[i]));
  document["total"] = all.size();
  document["next"] = end < all.size() ? ordered_json(std::to_string(end)) : ordered_json();
  document["gate"] = nullptr;
  document["models"] = std::move(models);
  return Json(document);
}

Reply ListTrends(Context& context, const Call& call) {
  const auto filter = ParseTrendQuery({.by = call.Get("by"),
                                       .since = call.Get("since"),
                                       .until = call.Get("until"),
                                       .family = call.Get("family"),
                                       .reason = call.Get("reason"),
                                       .toolchain = call.Get("toolchain")},
                                      "");
  if (!filter) return Problem(filter.error());
  const auto folds = context.parts.queries.Trends(*filter);
  if (!folds) return Problem(folds.error());
  return {.body = report::TrendDocument(*folds, *filter)};
}

Reply ListDeadLetters(Context& context, const Call& call) {
  std::string after;
  std::int64_t event = 0;
  if (const std::string& cursor = call.Get("cursor"); !cursor.empty()) {
    const auto at = nlohmann::json::parse(TextOfCursor(cursor).value_or(""), nullptr, /*allow_exceptions=*/false);
    if (!at.is_array() || at.size() != 2 || !at[0].is_string() || !at[1].is_number_integer())
      return Problem(BadCursor());
    after = at[0], event = at[1];
  }
  const auto letters = context.parts.queries.LettersAfter(call.Get("exporter"), after, event,
                                                          {.rows = call.Limit(), .bytes = kMaxPageBytes});
  if (!letters) return Problem(letters.error());
  std::vector<std::string> documents;
  for (const Letter& letter : *letters) documents.push_back(letter.json);
  std::string next;
  if (!letters->empty()) {
    const Letter& last = letters->back();
    const auto rest =
        context.parts.queries.LettersAfter(call.Get("exporter"), last.exporter, last.event_id, {.rows = 1, .bytes = 1});
    if (!rest) return Problem(rest.error());
    if (!rest->empty()) next = CursorOf(JsonText(nlohmann::json{last.exporter, last.event_id}));
  }
  return {.body = ListDocument("dead_letters", documents, next)};
}

}  // namespace breakwatch::api
