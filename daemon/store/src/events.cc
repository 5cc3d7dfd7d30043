#include <algorithm>
#include <limits>

#include "batch.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "runs.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr Int kEventsPerQuery = 200;  // at the maximum line length, 13 MB in memory on PostgreSQL

Int ReadCursor(soci::session& sql, const std::string& exporter) {
  return Scalar(sql, "SELECT event_id FROM cursors WHERE exporter = :exporter", 0, exporter);
}

}  // namespace

void SqlStore::WriteCursor(soci::session& sql, const std::string& exporter, std::int64_t event_id) {
  Exec(sql,
       "INSERT INTO cursors (exporter, event_id, updated_ns) VALUES (:exporter, :event, :now)"
       " ON CONFLICT (exporter) DO UPDATE SET event_id = excluded.event_id, updated_ns = excluded.updated_ns",
       exporter, Int{event_id}, Nanoseconds(clock_.Now()));
}

void SqlStore::WriteEvents(soci::session& sql, std::span<const Event> events, const EventPlaces& places) {
  if (events.empty()) return;
  auto [id, ts_ns] = NewestEvent(sql);
  Batch rows(sql, db_.dialect(), "events",
             {{"id", true}, {"ts_ns", true}, {"sweep_id"}, {"model"}, {"revision"}, {"line"}});
  EventRun run{.sweep_id = places.sweep_id, .kind = places.kind};
  const auto flush = [&] {
    if (run.events > 0) WriteEventRun(sql, run);
    run.events = 0;
  };
  const Int now = Nanoseconds(clock_.Now());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    ++id;
    // A clock that was set back or is too coarse must not reorder lines.
    ts_ns = std::max<std::int64_t>(now, ts_ns + 1);
    const std::int64_t place = places.places.empty() ? -1 : places.places[i];
    if (place < 0) {
      flush();
      rows.Add({id, ts_ns, event.sweep_id, event.model, event.commit, ComposeLine(event, id, ts_ns)});
    } else if (run.events > 0 && run.events < kMaxRun && place == run.position + run.events &&
               ts_ns == run.ts_ns + run.events) {
      ++run.events;
    } else {
      flush();
      run.id = id, run.ts_ns = ts_ns, run.position = place, run.events = 1;
    }
  }
  flush();
  rows.Flush();
}

Result<void> SqlStore::AppendEvents(std::span<const Event> events) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    WriteEvents(sql, events);
    return {};
  });
}

// Replaces a damaged event by one that reports the loss, so that it does not block later events.
void SqlStore::ReplaceIfDamaged(StoredEvent& event) {
  if (IsEventLine(event.line)) return;
  Report({"events", std::to_string(event.id), event.model, "its line is not a JSON object"});
  event.line = LostEventLine(event.id, event.ts_ns);
}

// The time of the previous event. Each lost event after it adds a nanosecond.
std::int64_t SqlStore::TimeUpTo(std::int64_t id) {
  Int ts = 0;
  const auto read = db_.Read([&](soci::session& sql) -> Result<void> {
    Query<Int>(
        sql, "SELECT ts_ns FROM events WHERE id <= :id ORDER BY id DESC LIMIT 1",
        [&](Int found) { return ts = found, false; }, Int{id});
    if (const EventRun run = RunUpTo(sql, id); run.events > 0)
      ts = std::max(ts, Int{run.ts_ns + std::min(run.events - 1, id - run.id)});
    return {};
  });
  return read && ts > 0 ? ts : Nanoseconds(clock_.Now());
}

// Reads one at a time if a page of the database is damaged. A lost line is replaced by an event that reports the loss.
Result<std::vector<StoredEvent>> SqlStore::ReadEachEvent(std::int64_t after, std::int64_t last) {
  std::vector<StoredEvent> events;
  for (Int id = after + 1; id <= last; ++id) {
    StoredEvent event{id, (events.empty() ? TimeUpTo(after) : events.back().ts_ns) + 1, {}, {}, {}, {}};
    auto read = ReadPast({"events", std::to_string(id), "", ""}, [&](soci::session& sql) -> Result<void> {
      if (const EventRun run = RunUpTo(sql, id); run.events > 0 && id < run.id + run.events) {
        event.ts_ns = run.ts_ns + id - run.id;
        event = std::move(EventsOfRun(sql, run, id, 1).front());
        return {};
      }
      Query<Int, std::string, std::string, std::string, std::string>(
          sql, "SELECT ts_ns, sweep_id, model, revision, line FROM events WHERE id = :id",
          [&](Int ts, const std::string& sweep, const std::string& model, const std::string& revision,
              const std::string& line) {
            event = {id, ts, sweep, model, revision, line};
            return false;
          },
          id);
      return {};
    });
    if (!read) return read.error();
    ReplaceIfDamaged(event);
    events.push_back(std::move(event));
  }
  return events;
}

Result<std::vector<StoredEvent>> SqlStore::EventsAfter(std::int64_t id, int limit, std::size_t max_bytes) {
  auto events = ReadEvents(id, limit, max_bytes);
  if (events || !db_.MetDamage()) return events;
  const auto newest = NewestEventId();
  if (!newest) return newest.error();
  return ReadEachEvent(id,
                       std::min<std::int64_t>(*newest, id + std::clamp(limit, 1, static_cast<int>(kEventsPerQuery))));
}

Result<std::vector<StoredEvent>> SqlStore::ReadEvents(std::int64_t id, int limit, std::size_t max_bytes) {
  return db_.Read([&](soci::session& sql) -> Result<std::vector<StoredEvent>> {
    std::vector<StoredEvent> events;
    std::size_t bytes = 0;
    const auto wanted = static_cast<std::size_t>(std::max(limit, 1));
    while (events.size() < wanted) {
      const Int after = events.empty() ? id : events.back().id;
      const Int rows = std::min(kEventsPerQuery, static_cast<Int>(wanted - events.size()));
      const EventRun run = RunAfter(sql, after);
      const Int until = run.events > 0 ? run.id : std::numeric_limits<Int>::max();
      std::vector<StoredEvent> part;
      if (until > after + 1) {
        Query<Int, Int, std::string, std::string, std::string, std::string>(
            sql,
            "SELECT id, ts_ns, sweep_id, model, revision, line FROM events WHERE id > :after AND id < :until"
            " ORDER BY id LIMIT :rows",
            [&](Int event, Int ts, const std::string& sweep, const std::string& model, const std::string& revision,
                const std::string& line) {
              part.push_back({event, ts, sweep, model, revision, line});
              ReplaceIfDamaged(part.back());
              return true;
            },
            after, until, rows);
      }
      if (part.empty() && run.events > 0) part = EventsOfRun(sql, run, std::max(Int{run.id}, after + 1), rows);
      if (part.empty()) return events;
      for (StoredEvent& event : part) {
        if (!events.empty() && bytes + event.line.size() > max_bytes) return events;
        bytes += event.line.size();
        events.push_back(std::move(event));
      }
    }
    return events;
  });
}

Result<std::int64_t> SqlStore::NewestEventId() {
  return db_.Read([&](soci::session& sql) -> Result<std::int64_t> { return NewestEvent(sql).first; });
}

Result<std::int64_t> SqlStore::NewestEventBefore(SystemTime time) {
  return db_.Read([&](soci::session& sql) -> Result<std::int64_t> {
    const Int before = Nanoseconds(time);
    Int newest = Scalar(sql, "SELECT id FROM events WHERE ts_ns < :time ORDER BY id DESC LIMIT 1", 0, before);
    if (!has_runs_) return newest;
    Query<Int, Int, Int>(
        sql, "SELECT id, events, ts_ns FROM event_runs WHERE ts_ns < :time ORDER BY id DESC LIMIT 1",
        [&](Int id, Int events, Int ts) {
          return newest = std::max(newest, id + std::min(events, before - ts) - 1), false;
        },
        before);
    return newest;
  });
}

Result<std::int64_t> SqlStore::Cursor(const std::string& exporter) {
  return db_.Read([&](soci::session& sql) -> Result<std::int64_t> { return ReadCursor(sql, ToUtf8(exporter)); });
}

Result<void> SqlStore::SetCursor(const std::string& exporter, std::int64_t event_id) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    WriteCursor(sql, ToUtf8(exporter), event_id);
    return {};
  });
}

Result<int> SqlStore::TrimEvents(std::span<const std::string> exporters, int keep_sweeps, int limit) {
  return db_.Write([&](soci::session& sql) -> Result<int> {
    std::string oldest_kept;
    Query<std::string>(
        sql, "SELECT id FROM sweeps ORDER BY seq DESC LIMIT 1 OFFSET :skip",
        [&](const std::string& id) { return oldest_kept = id, false; }, Int{std::max(keep_sweeps, 1) - 1});
    if (oldest_kept.empty()) return 0;
    // Keeps events from the first one of that sweep. If the sweep has none, none before it exist either.
    Int last = FirstEvent(sql, oldest_kept) - 1;
    for (const std::string& exporter : exporters) last = std::min(last, ReadCursor(sql, ToUtf8(exporter)));
    // The newest event stays, because the next id is computed from it.
    last = std::min<Int>(last, NewestEvent(sql).first - 1);
    const Int first = FirstEvent(sql, "");
    last = std::min(last, first + std::max(limit, 1) - 1);
    if (first == 0 || last < first) return 0;
    Exec(sql, "DELETE FROM events WHERE id <= :last", last);
    TrimRuns(sql, last);
    return static_cast<int>(last - first + 1);
  });
}

}  // namespace breakwatch::store
