// Two functions over SOCI that keep their values alive: Exec for a statement, Query for rows.
//
// SOCI's own `sql << text, use(value)` runs after temporaries of the expression are destroyed.
#pragma once

#include <soci/soci.h>

#include <string>
#include <tuple>
#include <utility>

#include "breakwatch/core/clock.h"

namespace breakwatch::store {

using Int = long long;  // SOCI's 64-bit integer type

inline Int Nanoseconds(SystemTime time) { return time.time_since_epoch().count(); }
inline SystemTime FromNanoseconds(Int ns) { return SystemTime{std::chrono::nanoseconds(ns)}; }

// Values bind by position: each named parameter occurs once in the text.
template <class... Values>
void Exec(soci::session& sql, const std::string& text, const Values&... values) {
  soci::statement statement(sql);
  (statement.exchange(soci::use(values)), ...);
  statement.alloc();
  statement.prepare(text, soci::details::st_one_time_query);
  statement.define_and_bind();
  statement.execute(true);
}

// Calls `each(columns...)` for every row until it returns false. No column may be NULL.
template <class... Columns, class Each, class... Values>
void Query(soci::session& sql, const std::string& text, const Each& each, const Values&... values) {
  std::tuple<Columns...> row;
  soci::statement statement(sql);
  std::apply([&](auto&... columns) { (statement.exchange(soci::into(columns)), ...); }, row);
  (statement.exchange(soci::use(values)), ...);
  statement.alloc();
  statement.prepare(text, soci::details::st_one_time_query);
  statement.define_and_bind();
  bool more = statement.execute(true);
  while (more && std::apply(each, row)) more = statement.fetch();
}

// The integer that a query selects; `otherwise` if there is no row.
template <class... Values>
Int Scalar(soci::session& sql, const std::string& text, Int otherwise, const Values&... values) {
  Query<Int>(
      sql, text, [&](Int value) { return otherwise = value, false; }, values...);
  return otherwise;
}

}  // namespace breakwatch::store
