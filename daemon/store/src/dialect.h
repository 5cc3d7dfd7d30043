// Dialect: all differences between SQLite and PostgreSQL. All other files are common to both.
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

  // The name of the database in messages: a path, or database and server; never a password.
  virtual const std::string& DisplayName() const = 0;
  // Call it before connecting. Error: kNotFound if it does not exist when reading; kStore if its folder cannot be
  // created.
  virtual Result<void> Locate(bool read_only) = 0;
  // Connects and sets durability, timeouts and other session options. Throws soci_error.
  virtual void Connect(soci::session& sql, bool read_only) = 0;

  // Error: kStore if the database was removed or replaced: new writes would be lost.
  virtual Result<void> StillThere() const { return {}; }

  // Statements that begin a write transaction. It excludes other writers from the first statement. So event ids have no
  // gaps, and a reader that becomes a writer meets no conflict.
  virtual std::vector<std::string> BeginWrite() const = 0;
  virtual std::vector<std::string> BeginRead() const = 0;
  // Serialises sessions that create or migrate the schema. Used in a write transaction that takes no table lock.
  virtual std::vector<std::string> BeginMigration() const = 0;

  virtual bool HasTable(soci::session& sql, const std::string& name) const = 0;
  // False if it contains any table, for example the schema of another program.
  virtual bool IsEmpty(soci::session& sql) const = 0;
  // Replaces $TEXT, $INT and $ID (an integer primary key) in a statement of the schema.
  std::string WithTypes(std::string ddl) const;
  // A table `rows` with one column `value` per element of the JSON array bound to :batch.
  virtual std::string JsonRows() const = 0;

  virtual Failure Classify(const soci::soci_error& error) const = 0;
  // The problems that the database itself finds; empty if none.
  virtual std::vector<std::string> IntegrityProblems(soci::session& sql) const = 0;
  // False if another session holds it.
  virtual bool TryWriterLock(soci::session& sql) const = 0;

 protected:
  struct Types {
    const char *text, *integer, *id;
  };
  virtual Types ColumnTypes() const = 0;
};

// Error: kConfig if the URL is of neither database.
Result<std::unique_ptr<Dialect>> MakeDialect(const std::string& url, std::chrono::milliseconds lock_timeout);

}  // namespace breakwatch::store
