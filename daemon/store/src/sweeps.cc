#include <algorithm>
#include <set>

#include "batch.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr std::size_t kPlanPageBytes = 1u << 20;

Error NoSweep(const std::string& id, const std::string& where) {
  return {ErrorCode::kNotFound,
          id == "latest" ? "no finished sweep in " + where : "no sweep " + id + " in " + where,
          false,
          {}};
}

template <class... Values>
Result<std::vector<Sweep>> ReadSweeps(soci::session& sql, const std::string& rest, const Values&... values) {
  std::vector<Sweep> sweeps;
  std::optional<Error> error;
  Query<std::string>(
      sql, "SELECT s.document FROM sweeps s " + rest,
      [&](const std::string& document) {
        auto sweep = SweepFromJson(document);
        if (sweep)
          sweeps.push_back(std::move(*sweep));
        else
          error = sweep.error().Within("a stored sweep");
        return sweep.ok();
      },
      values...);
  if (error) return *error;
  return sweeps;
}

}  // namespace

Result<void> SqlStore::BeginSweep(const Sweep& sweep, const Plan& plan, std::span<const Event> events,
                                  const CurrentChange& change) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    const std::string id = ToUtf8(sweep.id);
    if (Scalar(sql, "SELECT COUNT(*) FROM sweeps WHERE id = :id", 0, id) > 0)
      return Error{ErrorCode::kInvalid, "sweep " + id + " has begun already"};
    const std::string document = ToJson(sweep);
    Exec(sql,
         "INSERT INTO sweeps (id, state, started_ns, finished_ns, document, plan_document)"
         " VALUES (:id, :state, :started, :finished, :document, :plan)",
         id, std::string(SweepStateName(sweep.state)), Nanoseconds(sweep.started_at), Nanoseconds(sweep.finished_at),
         document, EncodePlanHead(plan));
    if (auto written = WritePlan(sql, sweep, plan); !written) return written;
    WriteStep(sql, HistoryStep::Kind::kBegun, id, "", "", document);
    WriteEvents(sql, events);
    WriteChange(sql, change);
    return {};
  });
}

Result<void> SqlStore::WritePlan(soci::session& sql, const Sweep& sweep, const Plan& plan) {
  Batch rows(sql, db_.dialect(), "plans",
             {{"sweep_id"}, {"position", true}, {"model"}, {"mode"}, {"structure"}, {"action"}, {"document"}});
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < plan.models.size(); ++i) {
    const PlannedModel& planned = plan.models[i];
    if (!seen.emplace(planned.info.id, planned.mode).second)
      return Error{ErrorCode::kInvalid, "plan of sweep " + sweep.id + " names " + planned.info.id + " twice"};
    auto document = EncodePlanned(planned);
    if (!document) return document.error();
    rows.Add({sweep.id, i, planned.info.id, planned.mode, planned.structure, std::string(ActionName(planned.action)),
              std::move(*document)});
  }
  rows.Flush();
  return {};
}

Result<void> SqlStore::FinishSweep(const Sweep& sweep, std::span<const Event> events, const CurrentChange& change) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    const std::string id = ToUtf8(sweep.id);
    std::string state;
    Query<std::string>(
        sql, "SELECT state FROM sweeps WHERE id = :id", [&](const std::string& text) { return state = text, false; },
        id);
    if (state.empty()) return NoSweep(id, db_.name());
    if (state == SweepStateName(SweepState::kFinished))
      return Error{ErrorCode::kInvalid, "sweep " + id + " is finished already"};
    const std::string document = ToJson(sweep);
    Exec(sql, "UPDATE sweeps SET state = :state, finished_ns = :finished, document = :document WHERE id = :id",
         std::string(SweepStateName(sweep.state)), Nanoseconds(sweep.finished_at), document, id);
    WriteStep(sql, HistoryStep::Kind::kFinished, id, "", "", document);
    WriteEvents(sql, events);
    WriteChange(sql, change);
    return {};
  });
}

Result<std::optional<Sweep>> SqlStore::NewestUnfinished() {
  return db_.Read([&](soci::session& sql) -> Result<std::optional<Sweep>> {
    auto found = ReadSweeps(sql, "WHERE state <> 'finished' ORDER BY started_ns DESC, id DESC LIMIT 1");
    if (!found) return found.error();
    return found->empty() ? std::optional<Sweep>() : std::move(found->front());
  });
}

Result<std::vector<Sweep>> SqlStore::Sweeps(int limit) {
  return db_.Read([&](soci::session& sql) {
    return ReadSweeps(sql, "ORDER BY started_ns DESC, id DESC LIMIT :limit", Int{std::max(limit, 0)});
  });
}

Result<Sweep> SqlStore::FindSweep(const std::string& id) {
  return db_.Read([&](soci::session& sql) -> Result<Sweep> {
    auto found = id == "latest" ? ReadSweeps(sql, std::string("WHERE state = 'finished' ORDER BY ") + kFurtherLast +
                                                      ", started_ns DESC, id DESC LIMIT 1")
                                : ReadSweeps(sql, "WHERE id = :id", ToUtf8(id));
    if (!found) return found.error();
    if (found->empty()) return NoSweep(id, db_.name());
    return std::move(found->front());
  });
}

Result<Plan> SqlStore::LoadPlan(const std::string& sweep_id) {
  return db_.Read([&](soci::session& sql) { return ReadPlan(sql, sweep_id); });
}

Result<Plan> SqlStore::ReadPlan(soci::session& sql, const std::string& sweep_id) {
  const std::string id = ToUtf8(sweep_id);
  std::string head;
  Query<std::string>(
      sql, "SELECT plan_document FROM sweeps WHERE id = :id",
      [&](const std::string& text) { return head = text, false; }, id);
  if (head.empty()) return NoSweep(id, db_.name());
  auto plan = PlanFromJson(head);
  if (!plan) return plan;
  // In pages: parsing has a bound, a plan has none.
  std::vector<std::string> page;
  std::size_t bytes = 0;
  Result<void> decoded;
  Query<std::string>(
      sql, "SELECT document FROM plans WHERE sweep_id = :id ORDER BY position",
      [&](const std::string& document) {
        bytes += document.size();
        page.push_back(document);
        if (bytes < kPlanPageBytes) return true;
        decoded = DecodePlanned(page, *plan);
        page.clear(), bytes = 0;
        return decoded.ok();
      },
      id);
  if (decoded.ok()) decoded = DecodePlanned(page, *plan);
  if (!decoded) return decoded.error().Within("plan of sweep " + id);
  return plan;
}

}  // namespace breakwatch::store
