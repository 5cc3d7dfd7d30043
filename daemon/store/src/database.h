// Database: one session and its transactions. Converts exceptions of the library to Errors.
#pragma once

#include <soci/soci.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "breakwatch/core/result.h"
#include "dialect.h"

namespace breakwatch::store {

// Rolls back unless committed.
class Transaction {
 public:
  Transaction(soci::session& sql, const std::vector<std::string>& begin);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void Commit();

 private:
  soci::session& sql_;
  bool open_ = true;
};

class Database {
 public:
  Database(std::unique_ptr<Dialect> dialect, bool read_only) : dialect_(std::move(dialect)), read_only_(read_only) {}

  Result<void> Connect();
  const Dialect& dialect() const { return *dialect_; }
  const std::string& name() const { return dialect_->DisplayName(); }

  // Each runs `body(soci::session&)`, which returns a Result and may throw SOCI's exceptions. Write runs it in an
  // exclusive write transaction, and rolls back on an Error. Read runs it in a transaction with a consistent view.
  template <class Body>
  auto Write(const Body& body) {
    return InTransaction(dialect_->BeginWrite(), body);
  }
  template <class Body>
  auto Read(const Body& body) {
    return InTransaction(dialect_->BeginRead(), body);
  }
  template <class Body>
  auto Migrate(const Body& body) {
    return InTransaction(dialect_->BeginMigration(), body);
  }
  // Without a transaction.
  template <class Body>
  auto Guarded(const Body& body) -> std::invoke_result_t<Body, soci::session&> {
    met_damage_ = false;
    try {
      if (lost_) Reconnect();
      if (auto there = dialect_->StillThere(); !there) return there.error();
      return body(sql_);
    } catch (const soci::soci_error& error) {
      return Caught(error);
    } catch (const std::exception& error) {
      return ToError(Failure::kOther, name(), error.what());
    }
  }
  // The last error was a damaged page: other pages can still be read.
  bool MetDamage() const { return met_damage_; }
  // Called after each reconnection, to restore the state of the session.
  void OnReconnect(std::function<void(soci::session&)> hook) { on_reconnect_ = std::move(hook); }

 private:
  template <class Body>
  auto InTransaction(const std::vector<std::string>& begin, const Body& body) {
    return Guarded([&](soci::session& sql) -> std::invoke_result_t<Body, soci::session&> {
      Transaction transaction(sql, begin);
      auto result = body(sql);
      if (result.ok()) transaction.Commit();
      return result;
    });
  }
  void Reconnect();
  Error Caught(const soci::soci_error& error);

  std::unique_ptr<Dialect> dialect_;
  bool read_only_;
  bool lost_ = false, met_damage_ = false;
  std::function<void(soci::session&)> on_reconnect_;
  soci::session sql_;
};

}  // namespace breakwatch::store
