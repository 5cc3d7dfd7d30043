// Salvage: reads the rows of a SQLite table, except those on damaged pages.
//
// Does not use SOCI, which ends a query at its first error. It finds rows by rowid, from both ends and then by
// bisection. Thread: one.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::store {

// One connection. Exec and the other functions return false or nothing on an error; Cause returns the error text.
class Sqlite {
 public:
  Sqlite() = default;
  ~Sqlite() { sqlite3_close(db_); }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  Result<void> Open(const std::string& path);
  bool Exec(const std::string& text);
  // The first column of the first row; empty if there is no row.
  std::string Text(const std::string& query, const std::string& value);
  // Calls `each` for rows of two integers.
  void Numbers(const std::string& query, const std::function<void(std::int64_t, std::int64_t)>& each);
  bool InsertEvent(std::int64_t id, std::int64_t ts_ns, const std::string& line);
  std::string Cause() const { return sqlite3_errmsg(db_); }
  sqlite3* get() { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

struct Column {
  std::string name;
  bool is_text = true, may_be_null = false;
};
// The columns that both databases have; empty if one of them lacks the table.
std::vector<Column> CommonColumns(const std::string& table, Sqlite& a, Sqlite& b);

// A row with its values.
class Row {
 public:
  struct Value {
    int type = SQLITE_NULL;
    std::int64_t number = 0;
    std::string text;
  };
  Row(const std::vector<Column>& columns, std::vector<Value> values) : columns_(columns), values_(std::move(values)) {}

  // The value as text, also if it is a number. Empty for NULL and for an unknown column.
  std::string Text(const std::string& column) const;
  void Set(const std::string& column, std::string text);
  // The error if a value does not have its column's type.
  std::optional<std::string> WrongType() const;
  bool InsertInto(const std::string& table, Sqlite& db) const;

 private:
  const std::vector<Column>& columns_;
  std::vector<Value> values_;
};

class Salvage {
 public:
  Salvage(Sqlite& db, const std::string& table, const std::vector<Column>& columns);
  // Rowids from `first` to `last` cannot be read. `open`: more rows may follow, and their number is unknown.
  using Lost = std::function<void(std::int64_t first, std::int64_t last, bool open)>;
  // Calls `row` for each readable row, in any order, then `lost`.
  void ReadAll(const std::function<void(Row&)>& row, const Lost& lost);

 private:
  // Reads up to the first unreadable row and returns its rowid; nullopt if it reached the end.
  std::optional<std::int64_t> Read(const char* order, std::int64_t from, std::int64_t to, std::int64_t next);
  void ReadRange(std::int64_t from, std::int64_t to);
  Sqlite& db_;
  const std::string table_;
  const std::vector<Column>& columns_;
  std::string select_;
  std::function<void(Row&)> row_;
  struct Range {
    std::int64_t first = 0, last = 0;
    bool open = false;  // the range was not read completely
  };

  // The maximum number of consecutive unreadable rows. Beyond it, a rowid itself is damaged and the rows do not exist.
  static constexpr std::int64_t kMaxUnread = 20'000;

  std::vector<Range> unread_;
  std::int64_t in_a_row_ = 0;  // unreadable rows since the last readable one
};

}  // namespace breakwatch::store
