#include <array>

#include "batch.h"
#include "breakwatch/core/text.h"
#include "schema.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

struct Rule {
  const char* count_broken;  // 0 when all is well
  const char* meaning;
};

// What the schema's keys cannot say.
constexpr std::array kRules{
    Rule{"SELECT COALESCE(MAX(id) - MIN(id) + 1, 0) - COUNT(*) FROM events", "event ids have gaps"},
    Rule{"SELECT COUNT(*) FROM (SELECT ts_ns, LAG(ts_ns) OVER (ORDER BY id) AS before FROM events) AS pairs"
         " WHERE ts_ns <= before",
         "event times do not increase"},
    Rule{"SELECT COUNT(*) FROM steps s LEFT JOIN results r ON r.seq = s.seq WHERE s.kind = 'result' AND r.seq IS NULL",
         "steps of history have lost their result"},
    Rule{"SELECT COUNT(*) FROM results r LEFT JOIN steps s ON s.seq = r.seq WHERE s.seq IS NULL",
         "results are missing in history"},
    Rule{"SELECT COUNT(*) FROM cursors WHERE event_id > (SELECT COALESCE(MAX(id), 0) FROM events)",
         "cursors are past the newest event"},
};

}  // namespace

Result<std::vector<std::string>> SqlStore::OwnedGroups(const std::string& gateway) {
  return db_.Read([&](soci::session& sql) -> Result<std::vector<std::string>> {
    std::vector<std::string> groups;
    Query<std::string>(
        sql, "SELECT name FROM gateway_groups WHERE gateway = :gateway ORDER BY position",
        [&](const std::string& name) { return groups.push_back(name), true; }, ToUtf8(gateway));
    return groups;
  });
}

Result<void> SqlStore::SetOwnedGroups(const std::string& gateway, const std::vector<std::string>& groups) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    const std::string name = ToUtf8(gateway);
    Exec(sql, "DELETE FROM gateway_groups WHERE gateway = :gateway", name);
    Batch rows(sql, db_.dialect(), "gateway_groups", {{"gateway"}, {"position", true}, {"name"}});
    for (std::size_t i = 0; i < groups.size(); ++i) rows.Add({name, i, groups[i]});
    rows.Flush();
    return {};
  });
}

Result<int> SqlStore::SchemaVersion() { return SchemaVersionOf(db_); }

Result<void> SqlStore::Check() {
  return db_.Read([&](soci::session& sql) -> Result<void> {
    auto problems = db_.dialect().IntegrityProblems(sql);
    for (const Rule& rule : kRules)
      if (const Int broken = Scalar(sql, rule.count_broken, 0); broken != 0)
        problems.push_back(std::string(rule.meaning) + " (" + std::to_string(broken) + ")");
    if (problems.empty()) return {};
    std::string text;
    for (const auto& problem : problems) text.append(text.empty() ? "" : "; ").append(problem);
    return ToError(Failure::kCorrupted, db_.name(), text);
  });
}

Result<void> SqlStore::LockAsWriter() {
  const auto taken = db_.Guarded([&](soci::session& sql) -> Result<bool> { return db_.dialect().TryWriterLock(sql); });
  if (!taken) return taken.error();
  if (!*taken)
    return Error{
        ErrorCode::kStore, db_.name() + " has another writer: one breakwatch at a time sweeps into it", true, {}};
  // The lock ends with its connection: a new one takes it again, or may not write.
  if (!writer_)
    db_.OnReconnect([this](soci::session& sql) {
      if (!db_.dialect().TryWriterLock(sql)) throw soci::soci_error("another writer took over meanwhile");
    });
  writer_ = true;
  return {};
}

}  // namespace breakwatch::store
