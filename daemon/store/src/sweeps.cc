#include <algorithm>
#include <numeric>
#include <set>

#include "batch.h"
#include "breakwatch/core/brief_event.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "runs.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

// The events of a plan are in its order, after those of the sweep.
EventPlaces PlacesOf(std::span<const Event> events, const std::string& sweep_id, const Plan& plan) {
  EventPlaces places{sweep_id, EventPlaces::kPlannedEvents, std::vector<std::int64_t>(events.size(), -1)};
  std::size_t event = 0;
  for (std::size_t i = 0; i < plan.models.size(); ++i) {
    if (plan.models[i].action == Action::kSkip) continue;
    while (event < events.size() && events[event].name != EventPlaces::kPlannedEvents) ++event;
    if (event == events.size()) break;
    if (events[event] == PlannedEvent(sweep_id, plan.models[i])) places.places[event++] = static_cast<std::int64_t>(i);
  }
  return places;
}

Error NoSweep(const std::string& id, const std::string& where) {
  return {ErrorCode::kNotFound,
          id == "latest" ? "no finished sweep in " + where : "no sweep " + id + " in " + where,
          false,
          {}};
}

// The number of sweeps searched for "latest". If none of them has results, older sweeps are not useful.
constexpr Int kLookBack = 1000;

// 0: a regular sweep. From kWithoutResults on: a sweep without results.
constexpr int kWithoutResults = 2;
int RankAsLatest(const Sweep& sweep, bool further) {
  const int rank = further || IsImport(sweep) || IsAside(sweep) ? 1 : 0;
  return sweep.planned == 0 || IsGivenUp(sweep) ? rank + kWithoutResults : rank;
}

}  // namespace

bool IsGivenUp(const Sweep& sweep) {
  const int ended = std::accumulate(sweep.statuses.begin(), sweep.statuses.end(), 0,
                                    [](int sum, const auto& status) { return sum + status.second; });
  return sweep.state == SweepState::kFinished && ended < sweep.planned;
}

Result<std::optional<Sweep>> SweepStore::NewestUnfinished() {
  auto unfinished = Unfinished();
  if (!unfinished) return unfinished.error();
  return unfinished->empty() ? std::optional<Sweep>() : std::move(unfinished->front());
}

template <class... Values>
std::vector<Sweep> SqlStore::ReadSweeps(soci::session& sql, const std::string& rest, const Values&... values) {
  std::vector<Sweep> sweeps;
  Query<std::string, std::string>(
      sql, "SELECT s.id, s.document FROM sweeps s " + rest,
      [&](const std::string& id, const std::string& document) {
        if (auto sweep = SweepFromJson(document))
          sweeps.push_back(std::move(*sweep));
        else
          Report({"sweeps", id, "", sweep.error().message});
        return true;
      },
      values...);
  return sweeps;
}

Result<void> SqlStore::BeginSweep(const Sweep& sweep, const Plan& plan, std::span<const Event> events,
                                  const CurrentChange& change, std::span<const SweepEnd> given_up) {
  const PlanRows earlier = RepeatedPlan(plan);
  open_ = {};
  return db_.Write([&](soci::session& sql) -> Result<void> {
    for (const SweepEnd& end : given_up) {
      if (auto ended = WriteEnd(sql, end.sweep, end.events, end.change); !ended) return ended;
    }
    const std::string id = ToUtf8(sweep.id);
    if (Scalar(sql, "SELECT COUNT(*) FROM sweeps WHERE id = :id", 0, id) > 0)
      return Error{ErrorCode::kInvalid, "sweep " + id + " has already started"};
    const std::string document = ToJson(sweep);
    Exec(sql,
         "INSERT INTO sweeps (id, state, started_ns, finished_ns, document, plan_document)"
         " VALUES (:id, :state, :started, :finished, :document, :plan)",
         id, std::string(SweepStateName(sweep.state)), Nanoseconds(sweep.started_at), Nanoseconds(sweep.finished_at),
         document, EncodePlanHead(plan));
    if (auto written = WritePlan(sql, sweep, plan, earlier); !written) return written;
    const Int seq = NextStep(sql);
    WriteStep(sql, seq, StepKindName(HistoryStep::Kind::kBegun), id, "", "", document);
    Exec(sql, "UPDATE sweeps SET seq = :seq WHERE id = :id", seq, id);
    WriteEvents(sql, events, PlacesOf(events, sweep.id, plan));
    WriteChange(sql, change);
    return {};
  });
}

Result<void> SqlStore::WritePlan(soci::session& sql, const Sweep& sweep, const Plan& plan, const PlanRows& earlier) {
  Batch rows(sql, db_.dialect(), "plans",
             {{"sweep_id"}, {"position", true}, {"model"}, {"mode"}, {"structure"}, {"action"}, {"document"}});
  Batch runs(sql, db_.dialect(), "plan_runs",
             {{"sweep_id"}, {"position", true}, {"of_sweep"}, {"of_position", true}, {"models", true}});
  std::set<std::pair<std::string, std::string>> seen;
  std::size_t begin = 0;
  PlanRow first;
  for (std::size_t i = 0; i < plan.models.size(); ++i) {
    const PlannedModel& planned = plan.models[i];
    if (!seen.emplace(planned.info.id, planned.mode).second)
      return Error{ErrorCode::kInvalid, "plan of sweep " + sweep.id + " contains " + planned.info.id + " twice"};
    const PlanRow row = earlier[i] ? *earlier[i] : PlanRow{sweep.id, static_cast<std::int64_t>(i)};
    if (!earlier[i]) {
      auto document = EncodePlanned(planned);
      if (!document) return document.error();
      rows.Add({sweep.id, i, planned.info.id, planned.mode, planned.structure, std::string(ActionName(planned.action)),
                std::move(*document)});
    }
    const bool follows = i > 0 && i - begin < kMaxRun && row.sweep_id == first.sweep_id &&
                         row.position == first.position + static_cast<std::int64_t>(i - begin);
    if (i > 0 && !follows) runs.Add({sweep.id, begin, first.sweep_id, first.position, i - begin});
    if (!follows) begin = i, first = row;
  }
  if (!plan.models.empty()) runs.Add({sweep.id, begin, first.sweep_id, first.position, plan.models.size() - begin});
  rows.Flush();
  runs.Flush();
  return {};
}

Result<void> SqlStore::FinishSweep(const Sweep& sweep, std::span<const Event> events, const CurrentChange& change) {
  return db_.Write([&](soci::session& sql) { return WriteEnd(sql, sweep, events, change); });
}

Result<void> SqlStore::WriteEnd(soci::session& sql, const Sweep& sweep, std::span<const Event> events,
                                const CurrentChange& change) {
  const std::string id = ToUtf8(sweep.id);
  std::string state;
  Query<std::string>(
      sql, "SELECT state FROM sweeps WHERE id = :id", [&](const std::string& text) { return state = text, false; }, id);
  if (state.empty()) return NoSweep(id, db_.name());
  if (state == SweepStateName(SweepState::kFinished))
    return Error{ErrorCode::kInvalid, "sweep " + id + " is already finished"};
  const std::string document = ToJson(sweep);
  const Int seq = NextStep(sql);
  WriteStep(sql, seq, StepKindName(HistoryStep::Kind::kFinished), id, "", "", document);
  Exec(sql,
       "UPDATE sweeps SET state = :state, finished_ns = :finished, finished_seq = :seq, document = :document"
       " WHERE id = :id",
       std::string(SweepStateName(sweep.state)), Nanoseconds(sweep.finished_at),
       sweep.state == SweepState::kFinished ? seq : Int{0}, document, id);
  WriteEvents(sql, events);
  WriteChange(sql, change);
  return {};
}

Result<std::vector<Sweep>> SqlStore::Unfinished() {
  auto sweeps = db_.Read([&](soci::session& sql) -> Result<std::vector<Sweep>> {
    return ReadSweeps(sql, std::string("WHERE s.state <> 'finished' ORDER BY ") + Newest());
  });
  return sweeps || !db_.MetDamage() ? sweeps : ReadEachSweep(/*only_unfinished=*/true);
}

Result<std::vector<Sweep>> SqlStore::Sweeps(int limit) {
  auto sweeps = db_.Read([&](soci::session& sql) -> Result<std::vector<Sweep>> {
    return ReadSweeps(sql, std::string("ORDER BY ") + Newest() + " LIMIT " + std::to_string(std::max(limit, 0)));
  });
  if (sweeps || !db_.MetDamage()) return sweeps;
  sweeps = ReadEachSweep(/*only_unfinished=*/false);
  if (sweeps) sweeps->resize(std::min(sweeps->size(), static_cast<std::size_t>(std::max(limit, 0))));
  return sweeps;
}

Result<std::vector<Sweep>> SqlStore::SweepsBefore(const std::string& before, int rows) {
  const std::string id = ToUtf8(before), limit = " LIMIT " + std::to_string(rows);
  const std::string order = std::string(" ORDER BY ") + Newest() + limit;
  return db_.Read([&](soci::session& sql) -> Result<std::vector<Sweep>> {
    if (id.empty()) return ReadSweeps(sql, order);
    if (Scalar(sql, "SELECT COUNT(*) FROM sweeps WHERE id = :id", 0, id) == 0) return NoSweep(id, db_.name());
    if (has_sequence_) return ReadSweeps(sql, "WHERE s.seq < (SELECT seq FROM sweeps WHERE id = :id)" + order, id);
    return ReadSweeps(sql,
                      "WHERE s.started_ns < (SELECT started_ns FROM sweeps WHERE id = :id) OR (s.started_ns ="
                      " (SELECT started_ns FROM sweeps WHERE id = :same) AND s.id < :tie)" +
                          order,
                      id, id, id);
  });
}

// Reads one at a time if a page of the database is damaged, newest first. The ids come from an index.
Result<std::vector<Sweep>> SqlStore::ReadEachSweep(bool only_unfinished) {
  std::vector<std::string> ids;
  const auto listed = db_.Read([&](soci::session& sql) -> Result<void> {
    Query<std::string>(sql, "SELECT id FROM sweeps", [&](const std::string& id) { return ids.push_back(id), true; });
    return {};
  });
  if (!listed) return listed.error();
  std::vector<std::pair<Int, Sweep>> found;
  for (const std::string& id : ids) {
    auto one = ReadPast({"sweeps", id, "", ""}, [&](soci::session& sql) -> Result<void> {
      const Int place = Scalar(
          sql, std::string("SELECT ") + (has_sequence_ ? "seq" : "started_ns") + " FROM sweeps WHERE id = :id", 0, id);
      for (Sweep& sweep : ReadSweeps(sql, "WHERE s.id = :id", id)) found.emplace_back(place, std::move(sweep));
      return {};
    });
    if (!one) return one.error();
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Sweep> sweeps;
  for (auto& [place, sweep] : found) {
    if (!only_unfinished || sweep.state != SweepState::kFinished) sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

Result<Sweep> SqlStore::LatestSweep(soci::session& sql) {
  std::optional<Sweep> latest;
  int best = 2 * kWithoutResults;
  Query<std::string, std::string, Int>(
      sql,
      std::string("SELECT s.id, s.document, ") + kFurther + " FROM sweeps s WHERE s.state = 'finished' ORDER BY " +
          (has_sequence_ ? "s.finished_seq DESC" : Newest()) + " LIMIT :limit",
      [&](const std::string& id, const std::string& document, Int further) {
        auto sweep = SweepFromJson(document);
        if (!sweep) return Report({"sweeps", id, "", sweep.error().message}), true;
        if (const int rank = RankAsLatest(*sweep, further != 0); rank < best) best = rank, latest = std::move(*sweep);
        return best > 0;
      },
      kLookBack);
  if (!latest) return NoSweep("latest", db_.name());
  return *std::move(latest);
}

// The same if a page of the database is damaged, in the order in which sweeps began.
Result<Sweep> SqlStore::LatestOfEach() {
  auto sweeps = ReadEachSweep(/*only_unfinished=*/false);
  if (!sweeps) return sweeps.error();
  std::optional<Sweep> latest;
  int best = 2 * kWithoutResults;
  for (const Sweep& sweep : *sweeps) {
    if (best == 0 || sweep.state != SweepState::kFinished) continue;
    const auto plan = LoadPlanHead(sweep.id);
    if (const int rank = RankAsLatest(sweep, plan && !plan->primary); rank < best) best = rank, latest = sweep;
  }
  if (!latest) return NoSweep("latest", db_.name());
  return *std::move(latest);
}

Result<Sweep> SqlStore::FindSweep(const std::string& id) {
  if (id == "latest") {
    auto latest = db_.Read([&](soci::session& sql) { return LatestSweep(sql); });
    return latest || !db_.MetDamage() ? latest : LatestOfEach();
  }
  return db_.Read([&](soci::session& sql) -> Result<Sweep> {
    std::optional<std::string> document;
    Query<std::string>(
        sql, "SELECT document FROM sweeps WHERE id = :id",
        [&](const std::string& text) { return document = text, false; }, ToUtf8(id));
    if (!document) return NoSweep(id, db_.name());
    auto sweep = SweepFromJson(*document);
    if (!sweep)
      return ToError(Failure::kCorrupted, db_.name(), "table sweeps, row " + id + ": " + sweep.error().message);
    return sweep;
  });
}

Result<void> SqlStore::NoteFailure(SystemTime at) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    Exec(sql, "DELETE FROM meta WHERE key = 'last_failure'");
    Exec(sql, "INSERT INTO meta (key, value) VALUES ('last_failure', :at)", FormatTime(at));
    return {};
  });
}

Result<SystemTime> SqlStore::LastFailure() {
  return db_.Read([](soci::session& sql) -> Result<SystemTime> {
    std::optional<SystemTime> at;
    Query<std::string>(sql, "SELECT value FROM meta WHERE key = 'last_failure'",
                       [&](const std::string& value) { return at = ParseTime(value), true; });
    return at.value_or(SystemTime{});
  });
}

}  // namespace breakwatch::store
