#include "schema.h"
#include "sql_store.h"

namespace breakwatch::store {

Result<int> SqlStore::SchemaVersion() { return SchemaVersionOf(db_); }

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
