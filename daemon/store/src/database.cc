#include "database.h"

namespace breakwatch::store {

Transaction::Transaction(soci::session& sql, const std::vector<std::string>& begin) : sql_(sql) {
  sql_ << begin.front();
  try {
    for (std::size_t i = 1; i < begin.size(); ++i) sql_ << begin[i];
  } catch (...) {
    // If a constructor throws, the destructor does not run.
    try {
      sql_ << "ROLLBACK";
    } catch (const std::exception&) {
    }
    throw;
  }
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    sql_ << "ROLLBACK";
  } catch (const std::exception&) {
    // A full disk or a lost connection has already rolled it back.
  }
}

void Transaction::Commit() {
  sql_ << "COMMIT";
  open_ = false;
}

Result<void> Database::Connect() {
  if (auto located = dialect_->Locate(read_only_); !located) return located;
  return Guarded([&](soci::session& sql) -> Result<void> {
    dialect_->Connect(sql, read_only_);
    return {};
  });
}

void Database::Reconnect() {
  sql_.close();
  dialect_->Connect(sql_, read_only_);
  if (on_reconnect_) on_reconnect_(sql_);
  lost_ = false;
}

Error Database::Caught(const soci::soci_error& error) {
  // Our columns are never NULL, so this error means that a row is damaged.
  const bool is_null = error.get_error_message().starts_with("Null value fetched");
  const Failure failure = is_null ? Failure::kCorrupted : dialect_->Classify(error);
  if (failure == Failure::kConnectionLost) lost_ = true;
  met_damage_ = failure == Failure::kCorrupted;
  // Omits SOCI's context, which contains every bound value.
  return ToError(failure, name(), error.get_error_message());
}

}  // namespace breakwatch::store
