#include <algorithm>

#include "batch.h"
#include "breakwatch/core/text.h"
#include "documents.h"
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

void SqlStore::WriteEvents(soci::session& sql, std::span<const Event> events) {
  if (events.empty()) return;
  Int id = 0, ts_ns = 0;
  Query<Int, Int>(sql, "SELECT id, ts_ns FROM events ORDER BY id DESC LIMIT 1",
                  [&](Int last_id, Int last_ts) { return id = last_id, ts_ns = last_ts, false; });
  Batch rows(sql, db_.dialect(), "events",
             {{"id", true}, {"ts_ns", true}, {"sweep_id"}, {"model"}, {"revision"}, {"line"}});
  const Int now = Nanoseconds(clock_.Now());
  for (const Event& event : events) {
    ++id;
    // A clock that was set back or is too coarse must not reorder lines.
    ts_ns = std::max(now, ts_ns + 1);
    rows.Add({id, ts_ns, event.sweep_id, event.model, event.commit, ComposeLine(event, id, ts_ns)});
  }
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
    for (bool more = true; more && events.size() < wanted;) {
      const Int after = events.empty() ? id : events.back().id;
      const Int rows = std::min(kEventsPerQuery, static_cast<Int>(wanted - events.size()));
      const std::size_t before = events.size();
      Query<Int, Int, std::string, std::string, std::string, std::string>(
          sql,
          "SELECT id, ts_ns, sweep_id, model, revision, line FROM events WHERE id > :after ORDER BY id LIMIT :rows",
          [&](Int event, Int ts, const std::string& sweep, const std::string& model, const std::string& revision,
              const std::string& line) {
            if (!events.empty() && bytes + line.size() > max_bytes) return more = false;
            bytes += line.size();
            events.push_back({event, ts, sweep, model, revision, line});
            ReplaceIfDamaged(events.back());
            return true;
          },
          after, rows);
      more = more && events.size() - before == static_cast<std::size_t>(rows);
    }
    return events;
  });
}

Result<std::int64_t> SqlStore::NewestEventId() {
  return db_.Read([&](soci::session& sql) -> Result<std::int64_t> {
    return Scalar(sql, "SELECT COALESCE(MAX(id), 0) FROM events", 0);
  });
}

Result<std::int64_t> SqlStore::NewestEventBefore(SystemTime time) {
  return db_.Read([&](soci::session& sql) -> Result<std::int64_t> {
    return Scalar(sql, "SELECT id FROM events WHERE ts_ns < :time ORDER BY id DESC LIMIT 1", 0, Nanoseconds(time));
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
    Int last = Scalar(sql, "SELECT COALESCE(MIN(id), 0) FROM events WHERE sweep_id = :id", 0, oldest_kept) - 1;
    for (const std::string& exporter : exporters) last = std::min(last, ReadCursor(sql, ToUtf8(exporter)));
    // The newest event stays, because the next id is computed from it.
    last = std::min(last, Scalar(sql, "SELECT COALESCE(MAX(id), 0) FROM events", 0) - 1);
    const Int first = Scalar(sql, "SELECT COALESCE(MIN(id), 0) FROM events", 0);
    last = std::min(last, first + std::max(limit, 1) - 1);
    if (first == 0 || last < first) return 0;
    Exec(sql, "DELETE FROM events WHERE id <= :last", last);
    return static_cast<int>(last - first + 1);
  });
}

}  // namespace breakwatch::store
