// Batch: many rows into one table, a JSON array per statement.
//
// A prepared insert with vectors sends its first batch again on PostgreSQL when it is executed again, without
// an error; an array of rows is one statement, equally fast on both, and bounded in memory by Add.
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
  // One value per column, strings free of NUL (they are repaired). Writes when enough came together.
  void Add(std::vector<nlohmann::json> values);
  // Writes the rest; without it the rest is lost.
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
