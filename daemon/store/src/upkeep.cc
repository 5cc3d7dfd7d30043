#include "batch.h"
#include "breakwatch/core/text.h"
#include "schema.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {

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

Result<void> SqlStore::LockAsWriter() {
  const auto taken = db_.Guarded([&](soci::session& sql) -> Result<bool> { return db_.dialect().TryWriterLock(sql); });
  if (!taken) return taken.error();
  if (!*taken) return Error{ErrorCode::kStore, db_.name() + " is in use by another writer", true, {}};
  // The lock ends with its connection. A new connection must take it again, or may not write.
  if (!writer_)
    db_.OnReconnect([this](soci::session& sql) {
      if (!db_.dialect().TryWriterLock(sql)) throw soci::soci_error("another writer has taken over");
    });
  writer_ = true;
  return {};
}

}  // namespace breakwatch::store
