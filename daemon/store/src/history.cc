#include <algorithm>
#include <limits>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr Int kStepsPerPage = 100;

std::vector<StepRow> ReadSteps(soci::session& sql, Int after, Int last = std::numeric_limits<Int>::max()) {
  std::vector<StepRow> rows;
  Query<Int, std::string, std::string, std::string, std::string, std::string, std::string>(
      sql,
      "SELECT s.seq, s.kind, s.sweep_id, s.model, s.document, COALESCE(r.document, ''), COALESCE(c.document, '') FROM "
      "steps s"
      " LEFT JOIN results r ON r.seq = s.seq AND r.sweep_id = s.sweep_id AND r.model = s.model AND r.mode = s.mode"
      " LEFT JOIN captures c ON c.id = r.capture_id WHERE s.seq > :after AND s.seq <= :last ORDER BY s.seq LIMIT "
      ":limit",
      [&](auto&&... columns) { return rows.push_back({columns...}), true; }, after, last, kStepsPerPage);
  return rows;
}

}  // namespace

std::string StepKindName(HistoryStep::Kind kind) {
  static const char* const kNames[] = {"begun", "result", "finished"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t SqlStore::NextStep(soci::session& sql) {
  return Scalar(sql, "SELECT COALESCE(MAX(seq), 0) + 1 FROM steps", 1);
}

void SqlStore::WriteStep(soci::session& sql, std::int64_t seq, const std::string& kind, const std::string& sweep_id,
                         const std::string& model, const std::string& mode, const std::string& document) {
  Exec(sql,
       "INSERT INTO steps (seq, kind, sweep_id, model, mode, document)"
       " VALUES (:seq, :kind, :sweep, :model, :mode, :document)",
       Int{seq}, kind, sweep_id, model, mode, document);
}

Result<std::int64_t> SqlStore::NewestStep() {
  const auto ask = [&](const char* text) {
    return db_.Read([&](soci::session& sql) -> Result<std::int64_t> { return Scalar(sql, text, 0); });
  };
  const auto newest = ask("SELECT COALESCE(MAX(seq), 0) FROM steps");
  if (newest || !db_.MetDamage()) return newest;
  return ask(has_runs_ ? "SELECT COALESCE(MAX(seq), 0) FROM (SELECT MAX(seq + models - 1) AS seq FROM result_runs"
                         " UNION ALL SELECT MAX(finished_seq) FROM sweeps) AS other"
                       : "SELECT COALESCE(MAX(seq), 0) FROM (SELECT MAX(seq) AS seq FROM results"
                         " UNION ALL SELECT MAX(finished_seq) FROM sweeps) AS other");
}

Result<void> SqlStore::ReplayHistory(const std::function<Result<void>(const HistoryStep&)>& step) {
  std::map<std::string, Sweep> open;  // sweeps without a finished step: a result's step includes its sweep
  for (Int after = 0;;) {
    auto page = db_.Read([&](soci::session& sql) -> Result<std::vector<StepRow>> { return ReadSteps(sql, after); });
    if (!page && !db_.MetDamage()) return page.error();
    if (page && page->empty()) return {};
    if (page) {
      after = page->back().seq;
    } else {  // one at a time
      const auto newest = NewestStep();
      if (!newest) return newest.error();
      if (after >= *newest) return {};
      page = std::vector<StepRow>();
      for (const Int last = std::min(after + kStepsPerPage, Int{*newest}); after < last; ++after) {
        auto one = ReadPast({"steps", std::to_string(after + 1), "", ""}, [&](soci::session& sql) -> Result<void> {
          for (StepRow& row : ReadSteps(sql, after, after + 1)) page->push_back(std::move(row));
          return {};
        });
        if (!one) return one.error();
      }
    }
    for (const StepRow& row : *page) {
      auto folded = row.kind == kRepeatedStep ? ReplayRun(row, open, step) : ReplayStep(row, open, step);
      if (!folded) return folded;
    }
  }
}

Result<void> SqlStore::ReplayStep(const StepRow& row, std::map<std::string, Sweep>& open, const UseStep& step) {
  if (row.kind == StepKindName(HistoryStep::Kind::kResult)) {
    auto result = DecodeResult(row.result_document, row.capture_document);
    if (result)
      return step({HistoryStep::Kind::kResult, open[row.sweep_id], std::nullopt, std::move(*result), row.seq});
    // `results` or `captures` is damaged: Results reports the row
    Report({"steps", std::to_string(row.seq), row.model, result.error().message});
    return {};
  }
  auto sweep = SweepFromJson(row.document);
  auto plan = LoadPlan(row.sweep_id);
  if (!plan && plan.error().retryable) return plan.error();
  if (!sweep || !plan) {
    Report({"steps", std::to_string(row.seq), "", sweep ? plan.error().message : sweep.error().message});
    return {};
  }
  const bool begun = row.kind == StepKindName(HistoryStep::Kind::kBegun);
  if (begun)
    open[row.sweep_id] = *sweep;
  else if (sweep->state == SweepState::kFinished)
    open.erase(row.sweep_id);
  const auto kind = begun ? HistoryStep::Kind::kBegun : HistoryStep::Kind::kFinished;
  return step({kind, *sweep, std::move(*plan), std::nullopt, row.seq});
}

// All results of a run of rows of an earlier sweep.
Result<void> SqlStore::ReplayRun(const StepRow& row, std::map<std::string, Sweep>& open, const UseStep& step) {
  const auto run = db_.Read([&](soci::session& sql) -> Result<ResultRun> {
    ResultRun found{row.sweep_id};
    Query<Int, Int, Int, Int>(
        sql, "SELECT seq, of_seq, models, at_ns FROM result_runs WHERE sweep_id = :id AND seq + models - 1 = :last",
        [&](Int seq, Int of, Int models, Int at_ns) {
          return found.seq = seq, found.row = of, found.models = models, found.at_ns = at_ns, false;
        },
        row.sweep_id, row.seq);
    return found;
  });
  if (!run && !db_.MetDamage()) return run.error();
  if (!run || run->models == 0) {
    Report({"steps", std::to_string(row.seq), "", "its run of results is missing"});
    return {};
  }
  for (std::int64_t i = 0; i < run->models; ++i) {
    auto result = ReadByKey({{row.sweep_id, "", "", run->row + i, run->at_ns}});
    if (!result) return result.error();
    if (result->empty()) continue;
    auto folded =
        step({HistoryStep::Kind::kResult, open[row.sweep_id], std::nullopt, std::move(result->front()), run->seq + i});
    if (!folded) return folded;
  }
  return {};
}

}  // namespace breakwatch::store
