// Events that a target refused: stores, lists, requeues and drops them. Also stores paused exporters.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "batch.h"
#include "breakwatch/core/text.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

// The condition for a filter. Ids are numbers, so they can be in the text. A list of them could not be bound.
std::string Where(const LetterFilter& filter) {
  std::string text = filter.exporter.empty() ? " WHERE 1 = 1" : " WHERE exporter = :exporter";
  if (!filter.after_exporter.empty()) text += " AND (exporter, event_id) > (:after, :event)";
  if (filter.ids.empty()) return text;
  std::string ids;
  for (const std::int64_t id : filter.ids) ids += (ids.empty() ? "" : ", ") + std::to_string(id);
  return text + " AND event_id IN (" + ids + ")";
}

// Runs `statement` with the values that Where left to bind.
void ExecOn(soci::session& sql, const std::string& statement, const LetterFilter& filter) {
  filter.exporter.empty() ? Exec(sql, statement) : Exec(sql, statement, ToUtf8(filter.exporter));
}

Int CountOf(soci::session& sql, const LetterFilter& filter) {
  const std::string text = "SELECT COUNT(*) FROM dead_letters" + Where(filter);
  return filter.exporter.empty() ? Scalar(sql, text, 0) : Scalar(sql, text, 0, ToUtf8(filter.exporter));
}

// In `meta`, by exporter: "TIME_NS ANSWER".
constexpr std::string_view kLastError = "last_error:";

constexpr const char* kIsQueued =
    "EXISTS (SELECT 1 FROM requeued r WHERE r.exporter = dead_letters.exporter AND r.event_id = dead_letters.event_id)";

}  // namespace

Result<void> SqlStore::BuryEvents(const std::string& exporter, std::span<const Refusal> refused, std::int64_t cursor) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    const std::string name = ToUtf8(exporter);
    const Int now = Nanoseconds(clock_.Now());
    Batch rows(sql, db_.dialect(), "dead_letters",
               {{"exporter"},
                {"event_id", true},
                {"ts_ns", true},
                {"sweep_id"},
                {"model"},
                {"revision"},
                {"line"},
                {"reason"},
                {"at_ns", true}},
               "ON CONFLICT (exporter, event_id) DO UPDATE SET reason = excluded.reason, at_ns = excluded.at_ns");
    for (const auto& [event, reason] : refused) {
      rows.Add({name, event.id, event.ts_ns, event.sweep_id, event.model, event.commit, event.line, reason, now});
    }
    rows.Flush();
    const Int before = Scalar(sql, "SELECT event_id FROM cursors WHERE exporter = :exporter", 0, name);
    WriteCursor(sql, name, std::max(before, Int{cursor}));
    return {};
  });
}

Result<std::vector<DeadLetter>> SqlStore::DeadLetters(const LetterFilter& filter, int limit) {
  return ReadLetters(filter, /*only_queued=*/false, limit, std::numeric_limits<std::size_t>::max());
}

namespace {

constexpr const char* kLetter = "SELECT exporter, event_id, ts_ns, sweep_id, model, revision, line, reason, at_ns, ";

// Calls `each` for the rows of a query. Its columns begin with kLetter and a flag for queued letters.
template <class Each, class... Values>
void QueryLetters(soci::session& sql, const std::string& text, const Each& each, const Values&... values) {
  Query<std::string, Int, Int, std::string, std::string, std::string, std::string, std::string, Int, Int>(
      sql, text,
      [&](const std::string& name, Int id, Int ts, const std::string& sweep, const std::string& model,
          const std::string& revision, const std::string& line, const std::string& reason, Int at, Int queued) {
        return each(DeadLetter{name, {id, ts, sweep, model, revision, line}, reason, FromNanoseconds(at), queued != 0});
      },
      values...);
}

}  // namespace

Result<std::vector<DeadLetter>> SqlStore::ReadLetters(const LetterFilter& filter, bool only_queued, int limit,
                                                      std::size_t max_bytes) {
  auto read = db_.Read([&](soci::session& sql) -> Result<std::vector<DeadLetter>> {
    std::vector<DeadLetter> letters;
    // A database of version 3 that is opened for reading lacks this table.
    const bool can_queue = db_.dialect().HasTable(sql, "requeued");
    const std::string text =
        kLetter + (can_queue ? "CASE WHEN " + std::string(kIsQueued) + " THEN 1 ELSE 0 END" : std::string("0")) +
        " FROM dead_letters" + Where(filter) + (only_queued ? " AND " + std::string(kIsQueued) : "") +
        " ORDER BY exporter, event_id LIMIT :rows";
    std::size_t bytes = 0;
    const auto take = [&](DeadLetter letter) {
      bytes += letter.event.line.size();
      if (!letters.empty() && bytes > max_bytes) return false;
      letters.push_back(std::move(letter));
      return true;
    };
    const Int rows = std::max(limit, 0);
    const std::string name = ToUtf8(filter.exporter), after = ToUtf8(filter.after_exporter);
    const Int event = filter.after_event;
    if (after.empty()) {
      name.empty() ? QueryLetters(sql, text, take, rows) : QueryLetters(sql, text, take, name, rows);
    } else {
      name.empty() ? QueryLetters(sql, text, take, after, event, rows)
                   : QueryLetters(sql, text, take, name, after, event, rows);
    }
    return letters;
  });
  return read || !db_.MetDamage() ? read : ReadEachLetter(filter, only_queued, limit, max_bytes);
}

// Reads one at a time if a page of the database is damaged. The keys come from an index.
Result<std::vector<DeadLetter>> SqlStore::ReadEachLetter(const LetterFilter& filter, bool only_queued, int limit,
                                                         std::size_t max_bytes) {
  std::vector<std::pair<std::string, Int>> keys;
  const std::pair<std::string, Int> after{ToUtf8(filter.after_exporter), filter.after_event};
  const auto listed = ReadPast({"dead_letters", "", "", ""}, [&](soci::session& sql) -> Result<void> {
    const auto take = [&](const std::string& name, Int id) {
      if (std::pair(name, id) > after) keys.emplace_back(name, id);
      return true;
    };
    const std::string text = "SELECT exporter, event_id FROM dead_letters" + Where({filter.exporter, filter.ids}) +
                             (only_queued ? " AND " + std::string(kIsQueued) : "") + " ORDER BY exporter, event_id";
    filter.exporter.empty() ? Query<std::string, Int>(sql, text, take)
                            : Query<std::string, Int>(sql, text, take, ToUtf8(filter.exporter));
    return {};
  });
  if (!listed) return listed.error();
  std::vector<DeadLetter> letters;
  std::size_t bytes = 0;
  for (const auto& key : keys) {
    const std::string& name = key.first;
    const Int id = key.second;
    if (letters.size() >= static_cast<std::size_t>(std::max(limit, 0)) || bytes >= max_bytes) break;
    auto one =
        ReadPast({"dead_letters", name + " " + std::to_string(id), "", ""}, [&](soci::session& sql) -> Result<void> {
          QueryLetters(
              sql,
              kLetter + ("CASE WHEN " + std::string(kIsQueued)) +
                  " THEN 1 ELSE 0 END FROM dead_letters WHERE exporter = :exporter AND event_id = :id",
              [&](DeadLetter letter) {
                bytes += letter.event.line.size();
                return letters.push_back(std::move(letter)), false;
              },
              name, id);
          return {};
        });
    if (!one) return one.error();
  }
  return letters;
}

Result<std::int64_t> SqlStore::CountLetters(const std::string& rest, const std::string& exporter) {
  Int count = 0;
  const auto read = ReadPast({"dead_letters", "", "", ""}, [&](soci::session& sql) -> Result<void> {
    count =
        Scalar(sql, "SELECT COUNT(*) FROM dead_letters WHERE exporter = :exporter AND " + rest, 0, ToUtf8(exporter));
    return {};
  });
  if (!read) return read.error();
  return count;
}

Result<std::int64_t> SqlStore::CountDeadLetters(const std::string& exporter) {
  return CountLetters("NOT " + std::string(kIsQueued), exporter);
}

Result<std::int64_t> SqlStore::CountQueuedLetters(const std::string& exporter) {
  return CountLetters(kIsQueued, exporter);
}

Result<std::int64_t> SqlStore::QueueDeadLetters(const LetterFilter& filter) {
  return db_.Write([&](soci::session& sql) -> Result<std::int64_t> {
    ExecOn(sql,
           "INSERT INTO requeued (exporter, event_id) SELECT exporter, event_id FROM dead_letters" + Where(filter) +
               " ON CONFLICT (exporter, event_id) DO NOTHING",
           filter);
    return CountOf(sql, filter);
  });
}

Result<std::int64_t> SqlStore::DropDeadLetters(const LetterFilter& filter) {
  return db_.Write([&](soci::session& sql) -> Result<std::int64_t> {
    const Int count = CountOf(sql, filter);
    ExecOn(sql, "DELETE FROM requeued" + Where(filter), filter);
    ExecOn(sql, "DELETE FROM dead_letters" + Where(filter), filter);
    return count;
  });
}

Result<std::vector<StoredEvent>> SqlStore::QueuedLetters(const std::string& exporter, int limit,
                                                         std::size_t max_bytes) {
  auto letters = ReadLetters({.exporter = exporter}, /*only_queued=*/true, std::max(limit, 1), max_bytes);
  if (!letters) return letters.error();
  std::vector<StoredEvent> events;
  for (DeadLetter& letter : *letters) events.push_back(std::move(letter.event));
  return events;
}

Result<void> SqlStore::RefuseQueuedLetters(const std::string& exporter, std::span<const Refusal> refused) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    const std::string name = ToUtf8(exporter);
    const Int now = Nanoseconds(clock_.Now());
    for (const auto& [event, reason] : refused) {
      Exec(sql,
           "UPDATE dead_letters SET reason = :reason, at_ns = :at WHERE exporter = :exporter AND event_id = :event",
           ToUtf8(reason), now, name, Int{event.id});
      Exec(sql, "DELETE FROM requeued WHERE exporter = :exporter AND event_id = :event", name, Int{event.id});
    }
    return {};
  });
}

Result<void> SqlStore::SetPaused(const std::string& exporter, const std::string& detail) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    const std::string name = ToUtf8(exporter);
    if (detail.empty()) {
      Exec(sql, "DELETE FROM paused WHERE exporter = :exporter", name);
      return {};
    }
    // The time stays that of the first refusal.
    Exec(sql,
         "INSERT INTO paused (exporter, at_ns, detail) VALUES (:exporter, :at, :detail)"
         " ON CONFLICT (exporter) DO UPDATE SET detail = excluded.detail",
         name, Nanoseconds(clock_.Now()), ToUtf8(detail));
    return {};
  });
}

Result<void> SqlStore::SetLastError(const std::string& exporter, const std::string& detail) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    Exec(sql,
         "INSERT INTO meta (key, value) VALUES (:key, :value)"
         " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
         ToUtf8(std::string(kLastError) + exporter), ToUtf8(std::to_string(Nanoseconds(clock_.Now())) + " " + detail));
    return {};
  });
}

Result<std::vector<DeliveryState>> SqlStore::DeliveryStates() {
  std::map<std::string, DeliveryState> states;
  auto read = db_.Read([&](soci::session& sql) -> Result<void> {
    Query<std::string, Int>(sql, "SELECT exporter, event_id FROM cursors",
                            [&](const std::string& name, Int id) { return states[name].cursor = id, true; });
    Query<std::string, std::string>(sql, "SELECT key, value FROM meta WHERE key LIKE 'last_error:%'",
                                    [&](const std::string& key, const std::string& value) {
                                      DeliveryState& state = states[key.substr(kLastError.size())];
                                      state.last_error = value.substr(std::min(value.find(' '), value.size() - 1) + 1);
                                      state.last_error_at = FromNanoseconds(std::strtoll(value.c_str(), nullptr, 10));
                                      return true;
                                    });
    if (!db_.dialect().HasTable(sql, "paused")) return {};  // as in ReadLetters
    Query<std::string, Int, std::string>(sql, "SELECT exporter, at_ns, detail FROM paused",
                                         [&](const std::string& name, Int at, const std::string& detail) {
                                           states[name].paused = detail;
                                           states[name].paused_at = FromNanoseconds(at);
                                           return true;
                                         });
    return {};
  });
  if (!read) return read.error();
  const auto counted = ReadPast({"dead_letters", "", "", ""}, [&](soci::session& sql) -> Result<void> {
    const bool can_queue = db_.dialect().HasTable(sql, "requeued");
    Query<std::string, Int, Int>(
        sql,
        "SELECT exporter, COUNT(*), " +
            (can_queue ? "SUM(CASE WHEN " + std::string(kIsQueued) + " THEN 1 ELSE 0 END)" : std::string("0")) +
            " FROM dead_letters GROUP BY exporter",
        [&](const std::string& name, Int count, Int queued) {
          states[name].queued = queued;
          states[name].dead_letters = count - queued;
          return true;
        });
    return {};
  });
  if (!counted) return counted.error();
  std::vector<DeliveryState> out;
  for (auto& [name, state] : states) state.exporter = name, out.push_back(std::move(state));
  return out;
}

}  // namespace breakwatch::store
