// Batch: inserts many rows into one table, with a JSON array per statement.
//
// On PostgreSQL, executing a prepared vector insert again sends its first batch again, without an error. An array of
// rows is a single statement. It is equally fast on both databases, and Add bounds its memory.
#pragma once

#include <soci/soci.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dialect.h"

namespace breakwatch::store {

struct Column {
  std::string name;
  bool integer = false;
};

class Batch {
 public:
  // `on_conflict`: empty, or "ON CONFLICT ...".
  Batch(soci::session& sql, const Dialect& dialect, const std::string& table, std::vector<Column> columns,
        const std::string& on_conflict = "");
  // Adds one value per column. Strings must not contain NUL; invalid UTF-8 is replaced. Writes when full.
  void Add(std::vector<nlohmann::json> values);
  // Writes the rest. Without this call the rest is lost.
  void Flush();

 private:
  soci::session& sql_;
  std::string statement_;
  std::vector<Column> columns_;
  std::string rows_;  // the array so far, without its closing bracket
};

// The JSON array of {"v": text}, for "IN (SELECT rows.value->>'v' FROM ...)".
std::string TextArray(const std::vector<std::string>& texts);

}  // namespace breakwatch::store
