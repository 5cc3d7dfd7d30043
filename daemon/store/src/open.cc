#include "schema.h"
#include "sql_store.h"

namespace breakwatch::store {

Result<void> SqlStore::Prepare() {
  if (auto connected = db_.Connect(); !connected) return connected;
  if (auto prepared = PrepareSchema(db_, read_only_); !prepared) return prepared;
  const auto version = SchemaVersionOf(db_);
  if (!version) return version.error();
  has_sequence_ = HasSequence(*version);
  has_runs_ = HasRuns(*version);
  return {};
}

Result<std::unique_ptr<Store>> Store::Open(const StoreOptions& options, const Clock& clock) {
  auto dialect = MakeDialect(options.url, options.lock_timeout);
  if (!dialect) return dialect.error();
  auto store = std::make_unique<SqlStore>(std::move(*dialect), options, clock);
  if (auto prepared = store->Prepare(); !prepared) return prepared.error();
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace breakwatch::store
