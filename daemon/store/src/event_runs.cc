// Events that follow from the plan or the results of a sweep: a row for many of them, without their lines.
#include <algorithm>

#include "breakwatch/core/brief_event.h"
#include "documents.h"
#include "runs.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

EventRun ReadRun(soci::session& sql, const std::string& rest, const auto&... values) {
  EventRun run;
  Query<Int, Int, Int, std::string, std::string, Int>(
      sql, "SELECT id, events, ts_ns, sweep_id, kind, position FROM event_runs WHERE " + rest + " LIMIT 1",
      [&](Int id, Int events, Int ts_ns, const std::string& sweep, const std::string& kind, Int position) {
        return run = {id, events, ts_ns, position, sweep, kind}, false;
      },
      values...);
  return run;
}

}  // namespace

void SqlStore::WriteEventRun(soci::session& sql, const EventRun& run) {
  Exec(sql,
       "INSERT INTO event_runs (id, events, ts_ns, sweep_id, kind, position)"
       " VALUES (:id, :events, :ts, :sweep, :kind, :position)",
       Int{run.id}, Int{run.events}, Int{run.ts_ns}, run.sweep_id, run.kind, Int{run.position});
}

// The run with the next event after `id`, or the first one after it; without events: none.
EventRun SqlStore::RunAfter(soci::session& sql, std::int64_t id) {
  if (!has_runs_) return {};
  return ReadRun(sql, "id > :from AND id + events > :next ORDER BY id", Int{id - kMaxRun}, Int{id + 1});
}

// The newest run that begins at `id` or before it.
EventRun SqlStore::RunUpTo(soci::session& sql, std::int64_t id) {
  return has_runs_ ? ReadRun(sql, "id <= :id ORDER BY id DESC", Int{id}) : EventRun{};
}

// The lines from event `first` on, at most `limit`. A line whose row is lost reports the loss.
std::vector<StoredEvent> SqlStore::EventsOfRun(soci::session& sql, const EventRun& run, std::int64_t first, Int limit) {
  const Int count = std::min(Int{run.id + run.events - first}, limit);
  const Int begin = run.position + first - run.id;
  std::vector<StoredEvent> events(static_cast<std::size_t>(std::max(count, Int{0})));
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto next = static_cast<std::int64_t>(i);
    events[i].id = first + next, events[i].ts_ns = run.ts_ns + first - run.id + next;
    events[i].sweep_id = run.sweep_id;
  }
  const auto take = [&](Int position, const Event& event) {
    StoredEvent& stored = events[static_cast<std::size_t>(position - begin)];
    stored.model = event.model, stored.commit = event.commit;
    stored.line = ComposeLine(event, stored.id, stored.ts_ns);
  };
  if (run.kind == EventPlaces::kPlannedEvents) {
    Query<Int, std::string>(
        sql,
        std::string("SELECT ") + kPlanPosition + ", p.document" + kPlanOfRuns + kPlanAfter +
            " AND t.position < :end AND " + kPlanPosition + " < :last",
        [&](Int position, const std::string& document) {
          Plan plan;
          if (DecodePlanned({document}, plan)) take(position, PlannedEvent(run.sweep_id, plan.models.front()));
          return true;
        },
        run.sweep_id, Int{BeforeRun(begin - 1)}, begin - 1, begin - 1, begin + count, begin + count);
  } else {
    Query<Int, std::string>(
        sql,
        std::string("SELECT ") + kResultPosition + ", r.document" + kRowsOfRuns +
            " AND t.sweep_id = :id AND t.position > :low AND t.position < :end AND t.position + t.models > :begin "
            "AND " +
            kResultPosition + " >= :first AND " + kResultPosition + " < :last",
        [&](Int position, const std::string& document) {
          if (auto result = DecodeOutcome(document)) {
            result->sweep_id = run.sweep_id;
            take(position, BriefEvent(*result));
          }
          return true;
        },
        run.sweep_id, Int{BeforeRun(begin)}, begin + count, begin, begin, begin + count);
  }
  for (StoredEvent& event : events) ReplaceIfDamaged(event);
  return events;
}

// Id and time of the newest event.
std::pair<std::int64_t, std::int64_t> SqlStore::NewestEvent(soci::session& sql) {
  std::pair<std::int64_t, std::int64_t> newest{0, 0};
  Query<Int, Int>(sql, "SELECT id, ts_ns FROM events ORDER BY id DESC LIMIT 1", [&](Int id, Int ts) {
    return newest = {id, ts}, false;
  });
  const EventRun run = has_runs_ ? ReadRun(sql, "id > 0 ORDER BY id DESC") : EventRun{};
  if (run.events == 0) return newest;
  return std::max(newest, {run.id + run.events - 1, run.ts_ns + run.events - 1});
}

// The oldest event of a sweep, or of all; 0: none.
std::int64_t SqlStore::FirstEvent(soci::session& sql, const std::string& sweep_id) {
  const Int own = sweep_id.empty()
                      ? Scalar(sql, "SELECT COALESCE(MIN(id), 0) FROM events", 0)
                      : Scalar(sql, "SELECT COALESCE(MIN(id), 0) FROM events WHERE sweep_id = :id", 0, sweep_id);
  const EventRun run = !has_runs_         ? EventRun{}
                       : sweep_id.empty() ? ReadRun(sql, "id > 0 ORDER BY id")
                                          : ReadRun(sql, "sweep_id = :id ORDER BY id", sweep_id);
  if (run.events == 0) return own;
  return own == 0 ? run.id : std::min<std::int64_t>(own, run.id);
}

// Removes the events up to `last`.
void SqlStore::TrimRuns(soci::session& sql, std::int64_t last) {
  Exec(sql, "DELETE FROM event_runs WHERE id + events - 1 <= :last", Int{last});
  EventRun run = RunUpTo(sql, last);
  if (run.events == 0) return;
  const std::int64_t gone = last + 1 - run.id;
  Exec(sql, "DELETE FROM event_runs WHERE id = :id", Int{run.id});
  run.id += gone, run.events -= gone, run.ts_ns += gone, run.position += gone;
  WriteEventRun(sql, run);
}

}  // namespace breakwatch::store
