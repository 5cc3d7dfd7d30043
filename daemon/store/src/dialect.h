// Dialect: everything in which SQLite and PostgreSQL differ. All other files are the same for both.
#pragma once

#include <soci/soci.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"
#include "failure.h"

namespace breakwatch::store {

class Dialect {
 public:
  virtual ~Dialect() = default;

  // How messages name the database: a path, or database and server; never a password.
  virtual const std::string& DisplayName() const = 0;
  // Before connecting. Error: kNotFound when reading and nothing is there; kStore when its folder cannot be made.
  virtual Result<void> Locate(bool read_only) = 0;
  // Connects, sets durability, time-outs and what else a session needs. Throws soci_error.
  virtual void Connect(soci::session& sql, bool read_only) = 0;

  // Error: kStore, the database is no longer where it was opened: what is written now would be lost.
  virtual Result<void> StillThere() const { return {}; }

  // Statements that begin a transaction. Writers exclude each other from the first statement on: event ids
  // have no gaps, and no reader-turned-writer meets a conflict half-way.
  virtual std::vector<std::string> BeginWrite() const = 0;
  virtual std::vector<std::string> BeginRead() const = 0;
  // Serialises those who create or migrate the schema; inside a write transaction that takes no table lock.
  virtual std::vector<std::string> BeginMigration() const = 0;

  virtual bool HasTable(soci::session& sql, const std::string& name) const = 0;
  // Anything at all: a schema of another program.
  virtual bool IsEmpty(soci::session& sql) const = 0;
  // Replaces $TEXT, $INT and $ID (an integer primary key) in a statement of the schema.
  std::string WithTypes(std::string ddl) const;
  // A table `rows` with one column `value` per element of the JSON array bound to :batch.
  virtual std::string JsonRows() const = 0;

  virtual Failure Classify(const soci::soci_error& error) const = 0;
  // The database's own findings; empty when sound.
  virtual std::vector<std::string> IntegrityProblems(soci::session& sql) const = 0;
  // False: another session has it.
  virtual bool TryWriterLock(soci::session& sql) const = 0;

 protected:
  struct Types {
    const char *text, *integer, *id;
  };
  virtual Types ColumnTypes() const = 0;
};

// Error: kConfig for a URL of neither kind.
Result<std::unique_ptr<Dialect>> MakeDialect(const std::string& url, std::chrono::milliseconds lock_timeout);

}  // namespace breakwatch::store
