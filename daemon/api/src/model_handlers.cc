// One model: its newest result, its history, and the newest results of all models.
#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/sweep.h"
#include "handlers.h"
#include "json_values.h"
#include "lists.h"
#include "page.h"

namespace breakwatch::api {
namespace {

using nlohmann::ordered_json;

ordered_json HistoryRow(const ModelResult& r) {
  const CaptureResult& c = r.capture;
  return {{"sweep_id", r.sweep_id},
          {"finished_at", TimeOrNull(r.finished_at)},
          {"revision", r.info.sha},
          {"mode", c.mode},
          {"toolchain", c.toolchain.name},
          {"torch", c.toolchain.torch},
          {"transformers", c.toolchain.transformers},
          {"status", StatusName(c.status)},
          {"status_detail", c.detail},
          {"graphs", OrNull(c.graphs)},
          {"breaks", OrNull(c.breaks)},
          {"break_sites", OrNull(c.break_sites)},
          {"ops_captured", OrNull(c.ops_captured)},
          {"frames_fallback", OrNull(c.frames_fallback)},
          {"recompiles", OrNull(c.recompiles)},
          {"reused", r.reused},
          {"capture_id", r.capture_id},
          {"structure", r.structure}};
}

// The results of a model in one sweep.
Result<std::vector<ModelResult>> ResultsInSweep(Queries& queries, const std::string& model, const std::string& sweep) {
  const auto found = queries.FindSweep(sweep);
  if (!found) return found.error();
  std::vector<ModelResult> results;
  std::int64_t place = 0;
  for (int reads = 0; reads < kMaxReads; ++reads) {
    auto rows = queries.HistoryBefore(model, place, {.rows = 100, .bytes = kMaxPageBytes});
    if (!rows) return rows.error();
    for (PlacedResult& row : *rows) {
      place = row.place;
      if (row.result.sweep_id == found->id) results.push_back(std::move(row.result));
    }
    if (rows->empty()) break;
  }
  return results;
}

bool Matches(const ModelResult& result, const Call& call) {
  const std::string &mode = call.Get("mode"), &toolchain = call.Get("toolchain");
  return (mode.empty() || result.capture.mode == mode) &&
         (toolchain.empty() || result.capture.toolchain.name == toolchain) &&
         result.info.sha.starts_with(call.Get("revision"));
}

}  // namespace

Reply GetModel(Context& context, const Call& call) {
  if (auto mode = CheckMode(call); !mode) return Problem(mode.error());
  Queries& queries = context.parts.queries;
  const std::string &model = call.Get("model"), &sweep = call.Get("sweep");
  const auto results = sweep.empty() ? queries.ResultsOf(model) : ResultsInSweep(queries, model, sweep);
  if (!results) return Problem(results.error());
  const ModelResult* result = report::SelectResult(*results, call.Get("mode"), call.Get("toolchain"));
  if (result == nullptr) return Problem(404, "no such result of model \"" + model + "\"");
  return {.body = report::RenderModel(*result, report::Format::kJson, {}, *results)};
}

Reply GetHistory(Context& context, const Call& call) {
  if (auto mode = CheckMode(call); !mode) return Problem(mode.error());
  auto place = PlaceOfCursor(call.Get("cursor"));
  if (!place) return Problem(place.error());
  std::vector<std::string> documents;
  bool more = true, known = *place != 0;
  for (int reads = 0; reads < kMaxReads && more && !IsFull(documents, 0, call); ++reads) {
    const auto rows = context.parts.queries.HistoryBefore(call.Get("model"), *place,
                                                          {.rows = call.Limit() + 1, .bytes = kMaxPageBytes});
    if (!rows) return Problem(rows.error());
    known = known || !rows->empty();
    more = !rows->empty();
    for (const PlacedResult& row : *rows) {
      if (IsFull(documents, 0, call)) break;
      *place = row.place;
      if (Matches(row.result, call)) documents.push_back(JsonText(HistoryRow(row.result)));
    }
    if (more && *place == rows->back().place && rows->size() <= static_cast<std::size_t>(call.Limit())) {
      const auto rest = context.parts.queries.HistoryBefore(call.Get("model"), *place, {.rows = 1, .bytes = 1});
      more = rest && !rest->empty();
    }
  }
  if (!known) return Problem(404, "no result of model \"" + call.Get("model") + "\"");
  return {.body = ListDocument("history", documents, more ? std::to_string(*place) : "")};
}

Reply ListResults(Context& context, const Call& call) {
  if (auto mode = CheckMode(call); !mode) return Problem(mode.error());
  Queries& queries = context.parts.queries;
  const auto after = TextOfCursor(call.Get("cursor"));
  if (!after) return Problem(BadCursor());
  const std::string& only = call.Get("model");
  auto models = only.empty() ? queries.ModelsAfter(*after, "", call.Limit() + 1)
                             : Result<std::vector<std::string>>(std::vector{only});
  if (!models) return Problem(models.error());
  std::vector<std::string> documents;
  std::size_t bytes = 0, done = 0;
  for (; done < models->size() && done < static_cast<std::size_t>(call.Limit()) && !IsFull(documents, bytes, call);
       ++done) {
    const auto results = queries.NewestResults((*models)[done], call.Get("mode"), call.Get("toolchain"),
                                               call.Get("revision"), call.Flag("each_commit"));
    if (!results) return Problem(results.error());
    for (const ModelResult& result : *results) {
      documents.push_back(breakwatch::ToJson(result));
      bytes += documents.back().size();
    }
  }
  const bool more = done < models->size();
  return {.body = ListDocument("results", documents, more ? CursorOf((*models)[done - 1]) : "")};
}

Reply ListModelIds(Context& context, const Call& call) {
  const auto after = TextOfCursor(call.Get("cursor"));
  if (!after) return Problem(BadCursor());
  auto models = context.parts.queries.ModelsAfter(*after, call.Get("contains"), call.Limit() + 1);
  if (!models) return Problem(models.error());
  const auto limit = static_cast<std::size_t>(call.Limit());
  const bool more = models->size() > limit;
  if (more) models->resize(limit);
  std::vector<std::string> documents;
  for (const std::string& model : *models) documents.push_back(JsonText(ordered_json(model)));
  return {.body = ListDocument("models", documents, more ? CursorOf(models->back()) : "")};
}

}  // namespace breakwatch::api
