#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr Int kStepsPerPage = 100;

struct StepRow {
  Int seq = 0;
  std::string kind, sweep_id, model, document, result_document, capture_document;
};

std::vector<StepRow> ReadPage(soci::session& sql, Int after) {
  std::vector<StepRow> rows;
  Query<Int, std::string, std::string, std::string, std::string, std::string, std::string>(
      sql,
      "SELECT s.seq, s.kind, s.sweep_id, s.model, s.document, COALESCE(r.document, ''), COALESCE(c.document, '') FROM "
      "steps s"
      " LEFT JOIN results r ON r.seq = s.seq AND r.sweep_id = s.sweep_id AND r.model = s.model AND r.mode = s.mode"
      " LEFT JOIN captures c ON c.id = r.capture_id WHERE s.seq > :after ORDER BY s.seq LIMIT :limit",
      [&](auto&&... columns) { return rows.push_back({columns...}), true; }, after, kStepsPerPage);
  return rows;
}

}  // namespace

std::string StepKindName(HistoryStep::Kind kind) {
  static const char* const kNames[] = {"begun", "result", "finished"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t SqlStore::WriteStep(soci::session& sql, HistoryStep::Kind kind, const std::string& sweep_id,
                                 const std::string& model, const std::string& mode, const std::string& document) {
  const Int seq = Scalar(sql, "SELECT COALESCE(MAX(seq), 0) + 1 FROM steps", 1);
  Exec(sql,
       "INSERT INTO steps (seq, kind, sweep_id, model, mode, document)"
       " VALUES (:seq, :kind, :sweep, :model, :mode, :document)",
       seq, StepKindName(kind), sweep_id, model, mode, document);
  return seq;
}

Result<void> SqlStore::ReplayHistory(const std::function<Result<void>(const HistoryStep&)>& step) {
  std::map<std::string, Sweep> open;  // begun and not finished: a result's step carries its sweep too
  for (Int after = 0;;) {
    auto page = db_.Read([&](soci::session& sql) -> Result<std::vector<StepRow>> { return ReadPage(sql, after); });
    if (!page) return page.error();
    if (page->empty()) return {};
    for (const StepRow& row : *page) {
      HistoryStep next;
      if (row.kind == StepKindName(HistoryStep::Kind::kResult)) {
        auto result = DecodeResult(row.result_document, row.capture_document);
        if (!result) {  // `results` or `captures` is damaged there: Results names the row
          Tell({"steps", std::to_string(row.seq), row.model, result.error().message});
          after = row.seq;
          continue;
        }
        next = {HistoryStep::Kind::kResult, open[row.sweep_id], std::nullopt, std::move(*result)};
      } else {
        auto sweep = SweepFromJson(row.document);
        auto plan = LoadPlan(row.sweep_id);
        if (!plan && plan.error().retryable) return plan.error();
        if (!sweep || !plan) {
          Tell({"steps", std::to_string(row.seq), "", sweep ? plan.error().message : sweep.error().message});
          after = row.seq;
          continue;
        }
        const bool begun = row.kind == StepKindName(HistoryStep::Kind::kBegun);
        next = {begun ? HistoryStep::Kind::kBegun : HistoryStep::Kind::kFinished, *sweep, std::move(*plan), {}};
        if (begun)
          open[row.sweep_id] = *sweep;
        else if (sweep->state == SweepState::kFinished)
          open.erase(row.sweep_id);
      }
      if (auto folded = step(next); !folded) return folded;
      after = row.seq;
    }
  }
}

}  // namespace breakwatch::store
