// Salvage: the rows of a SQLite table that can be read, around pages that cannot.
//
// Past SOCI, which ends a query at its first error: rows are found again by their rowids, from both ends and then by
// halves. Thread: one.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::store {

// One connection. Exec and the like return false or nothing where the database says no; Cause tells why.
class Sqlite {
 public:
  Sqlite() = default;
  ~Sqlite() { sqlite3_close(db_); }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  Result<void> Open(const std::string& path);
  bool Exec(const std::string& text);
  // The first column of the first row; empty without one.
  std::string Text(const std::string& query, const std::string& value);
  // Rows of two integers.
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
// Those that both databases have; empty: one of them lacks the table.
std::vector<Column> CommonColumns(const std::string& table, Sqlite& a, Sqlite& b);

// A row as it was read.
class Row {
 public:
  struct Value {
    int type = SQLITE_NULL;
    std::int64_t number = 0;
    std::string text;
  };
  Row(const std::vector<Column>& columns, std::vector<Value> values) : columns_(columns), values_(std::move(values)) {}

  // As text, also of a number; empty for NULL and for a column that there is none of.
  std::string Text(const std::string& column) const;
  void Set(const std::string& column, std::string text);
  // The cause, when a value is not of its column's type.
  std::optional<std::string> WrongType() const;
  bool InsertInto(const std::string& table, Sqlite& db) const;

 private:
  const std::vector<Column>& columns_;
  std::vector<Value> values_;
};

class Salvage {
 public:
  Salvage(Sqlite& db, const std::string& table, const std::vector<Column>& columns);
  // Rowids from `first` to `last` cannot be read; `open`: nobody knows how many follow.
  using Lost = std::function<void(std::int64_t first, std::int64_t last, bool open)>;
  // `row` for each row that can be read, in no order; then `lost`.
  void ReadAll(const std::function<void(Row&)>& row, const Lost& lost);

 private:
  // Reads up to the first row that cannot be read and returns its rowid; nothing: to the end.
  std::optional<std::int64_t> Read(const char* order, std::int64_t from, std::int64_t to, std::int64_t next);
  void ReadRange(std::int64_t from, std::int64_t to);
  Sqlite& db_;
  const std::string table_;
  const std::vector<Column>& columns_;
  std::string select_;
  std::function<void(Row&)> row_;
  struct Range {
    std::int64_t first = 0, last = 0;
    bool open = false;  // not all of it was asked for
  };

  // So many rows in a row that cannot be read; where more follow, a rowid is damaged itself, and they are not there.
  static constexpr std::int64_t kMaxUnread = 20'000;

  std::vector<Range> unread_;
  std::int64_t in_a_row_ = 0;  // since the last row that was read
};

}  // namespace breakwatch::store
