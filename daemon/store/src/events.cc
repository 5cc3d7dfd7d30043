#include <algorithm>

#include "batch.h"
#include "breakwatch/core/text.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr Int kEventsPerQuery = 200;  // at the longest line, 13 MB in memory on PostgreSQL

void WriteCursor(soci::session& sql, const std::string& exporter, Int event_id, SystemTime now) {
  Exec(sql,
       "INSERT INTO cursors (exporter, event_id, updated_ns) VALUES (:exporter, :event, :now)"
       " ON CONFLICT (exporter) DO UPDATE SET event_id = excluded.event_id, updated_ns = excluded.updated_ns",
       exporter, event_id, Nanoseconds(now));
}

Int ReadCursor(soci::session& sql, const std::string& exporter) {
  return Scalar(sql, "SELECT event_id FROM cursors WHERE exporter = :exporter", 0, exporter);
}

}  // namespace

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
    // A clock that was set back, or one too coarse, must not reorder lines.
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

Result<std::vector<StoredEvent>> SqlStore::EventsAfter(std::int64_t id, int limit, std::size_t max_bytes) {
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

Result<std::int64_t> SqlStore::Cursor(const std::string& exporter) {
  return db_.Read([&](soci::session& sql) -> Result<std::int64_t> { return ReadCursor(sql, ToUtf8(exporter)); });
}

Result<void> SqlStore::SetCursor(const std::string& exporter, std::int64_t event_id) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    WriteCursor(sql, ToUtf8(exporter), event_id, clock_.Now());
    return {};
  });
}

Result<int> SqlStore::TrimEvents(std::span<const std::string> exporters, int keep_sweeps, int limit) {
  return db_.Write([&](soci::session& sql) -> Result<int> {
    std::string oldest_kept;
    Query<std::string>(
        sql, "SELECT id FROM sweeps ORDER BY started_ns DESC, id DESC LIMIT 1 OFFSET :skip",
        [&](const std::string& id) { return oldest_kept = id, false; }, Int{std::max(keep_sweeps, 1) - 1});
    if (oldest_kept.empty()) return 0;
    // What is kept begins with that sweep's first event. Where that is gone, so is all that was before.
    Int last = Scalar(sql, "SELECT COALESCE(MIN(id), 0) FROM events WHERE sweep_id = :id", 0, oldest_kept) - 1;
    for (const std::string& exporter : exporters) last = std::min(last, ReadCursor(sql, ToUtf8(exporter)));
    // The newest one stays: the next id is counted from it.
    last = std::min(last, Scalar(sql, "SELECT COALESCE(MAX(id), 0) FROM events", 0) - 1);
    const Int first = Scalar(sql, "SELECT COALESCE(MIN(id), 0) FROM events", 0);
    last = std::min(last, first + std::max(limit, 1) - 1);
    if (first == 0 || last < first) return 0;
    Exec(sql, "DELETE FROM events WHERE id <= :last", last);
    return static_cast<int>(last - first + 1);
  });
}

Result<void> SqlStore::BuryEvent(const std::string& exporter, const StoredEvent& event, const std::string& reason) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    const std::string name = ToUtf8(exporter);
    Exec(sql,
         "INSERT INTO dead_letters (exporter, event_id, ts_ns, sweep_id, model, revision, line, reason, at_ns)"
         " VALUES (:exporter, :event, :ts, :sweep, :model, :revision, :line, :reason, :at)"
         " ON CONFLICT (exporter, event_id) DO UPDATE SET reason = excluded.reason, at_ns = excluded.at_ns",
         name, Int{event.id}, Int{event.ts_ns}, ToUtf8(event.sweep_id), ToUtf8(event.model), ToUtf8(event.commit),
         ToUtf8(event.line), ToUtf8(reason), Nanoseconds(clock_.Now()));
    WriteCursor(sql, name, std::max(ReadCursor(sql, name), Int{event.id}), clock_.Now());
    return {};
  });
}

Result<std::vector<DeadLetter>> SqlStore::DeadLetters(const std::string& exporter, int limit) {
  return db_.Read([&](soci::session& sql) -> Result<std::vector<DeadLetter>> {
    std::vector<DeadLetter> letters;
    Query<std::string, Int, Int, std::string, std::string, std::string, std::string, std::string, Int>(
        sql,
        "SELECT exporter, event_id, ts_ns, sweep_id, model, revision, line, reason, at_ns FROM dead_letters"
        " WHERE exporter = :exporter ORDER BY event_id LIMIT :rows",
        [&](const std::string& name, Int id, Int ts, const std::string& sweep, const std::string& model,
            const std::string& revision, const std::string& line, const std::string& reason, Int at) {
          letters.push_back({name, {id, ts, sweep, model, revision, line}, reason, FromNanoseconds(at)});
          return true;
        },
        ToUtf8(exporter), Int{std::max(limit, 0)});
    return letters;
  });
}

Result<std::int64_t> SqlStore::CountDeadLetters(const std::string& exporter) {
  return db_.Read([&](soci::session& sql) -> Result<std::int64_t> {
    return Scalar(sql, "SELECT COUNT(*) FROM dead_letters WHERE exporter = :exporter", 0, ToUtf8(exporter));
  });
}

}  // namespace breakwatch::store
