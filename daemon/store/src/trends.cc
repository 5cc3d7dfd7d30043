#include <utility>

#include "batch.h"
#include "breakwatch/core/text.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

std::vector<Column> Columns() {
  std::vector<Column> columns{{"day"},   {"toolchain"}, {"mode"},        {"scope"},          {"name"},
                              {"gb_id"}, {"sweep_id"},  {"at_ns", true}, {"published", true}};
  for (const TrendField& field : kTrendFields) columns.push_back({field.name, true});
  return columns;
}

void AddRow(const TrendFold& fold, const TrendRow& row, Batch& rows) {
  std::vector<nlohmann::json> values{FormatDay(fold.day),
                                     fold.toolchain,
                                     fold.mode,
                                     std::string(TrendScopeName(row.scope)),
                                     row.name,
                                     row.gb_id,
                                     fold.sweep_id,
                                     Nanoseconds(fold.at),
                                     fold.published ? 1 : 0};
  for (const TrendField& field : kTrendFields) values.push_back(row.numbers.*field.value);
  rows.Add(std::move(values));
}

// Also if the day has a published fold of another toolchain and this one would replace it.
bool IsStored(soci::session& sql, const TrendFold& fold) {
  return Scalar(sql,
                "SELECT COUNT(*) FROM trends WHERE day = :day AND mode = :mode"
                " AND (toolchain = :toolchain OR (published = 1 AND :published = 1))",
                0, FormatDay(fold.day), ToUtf8(fold.mode), ToUtf8(fold.toolchain), Int{fold.published}) > 0;
}

void RemoveFold(soci::session& sql, const TrendFold& fold) {
  const std::string day = FormatDay(fold.day);
  Exec(sql, "DELETE FROM trends WHERE day = :day AND toolchain = :toolchain AND mode = :mode", day,
       ToUtf8(fold.toolchain), ToUtf8(fold.mode));
  if (fold.published) Exec(sql, "UPDATE trends SET published = 0 WHERE day = :day", day);
}

// Counts days and not a time: if the clock was wrong once, this costs one day of trends and not all of them. The inner
// query has its own FROM: SQLite ignores DISTINCT in a query that is a value.
void RemoveOldDays(soci::session& sql, int keep_days) {
  Exec(sql,
       "DELETE FROM trends WHERE day < (SELECT MIN(day) FROM"
       " (SELECT DISTINCT day FROM trends ORDER BY day DESC LIMIT :keep) AS kept)",
       Int{keep_days});
}

template <class>
using AsInt = Int;

// Query needs the type of each column: nine of the head and one for each number.
template <std::size_t... kNumbers, class Each, class... Values>
void QueryRows(std::index_sequence<kNumbers...>, soci::session& sql, const std::string& text, const Each& each,
               const Values&... values) {
  Query<std::string, std::string, std::string, std::string, std::string, std::string, std::string, Int, Int,
        AsInt<std::integral_constant<std::size_t, kNumbers>>...>(
      sql, text,
      [&](const std::string& day, const std::string& toolchain, const std::string& mode, const std::string& scope,
          const std::string& name, const std::string& gb_id, const std::string& sweep_id, Int at, Int published,
          const auto&... numbers) {
        TrendFold fold{ParseDay(day).value_or(Day{}), toolchain,      mode, sweep_id,
                       FromNanoseconds(at),           published != 0, {}};
        TrendRow row{ParseTrendScope(scope).value_or(TrendScope::kAll), name, gb_id, {}};
        ((row.numbers.*kTrendFields[kNumbers].value = numbers), ...);
        each(std::move(fold), std::move(row));
        return true;
      },
      values...);
}

std::string SelectRows() {
  std::string names;
  for (const Column& column : Columns()) names += (names.empty() ? "" : ", ") + column.name;
  return "SELECT " + names +
         " FROM trends WHERE day >= :since AND day <= :until AND mode = :mode AND (scope = 'all'"
         " OR (scope = :scope AND (:any_name = 1 OR name = :name) AND (:any_id = 1 OR gb_id = :gb_id)))";
}

// Every fold has a row of all models, so a fold is found even if it lacks the rows asked for. Days sort as text.
constexpr const char* kFirstDay = "0";
constexpr const char* kLastDay = "9";

}  // namespace

void SqlStore::WriteTrends(soci::session& sql, const TrendChange& change) {
  if (change.folds.empty()) return;
  Batch rows(sql, db_.dialect(), "trends", Columns());
  for (const TrendFold& fold : change.folds) {
    if (change.only_missing && IsStored(sql, fold)) continue;
    RemoveFold(sql, fold);
    for (const TrendRow& row : fold.rows) AddRow(fold, row, rows);
    rows.Flush();  // the next fold may change these rows
  }
  if (change.keep_days > 0) RemoveOldDays(sql, change.keep_days);
}

Result<std::vector<TrendFold>> SqlStore::ReadTrends(const TrendFilter& filter) {
  std::vector<TrendFold> folds;
  const auto add = [&](TrendFold fold, TrendRow row) {
    const bool same = !folds.empty() && folds.back().day == fold.day && folds.back().toolchain == fold.toolchain;
    if (!same) folds.push_back(std::move(fold));
    if (row.scope == filter.by) folds.back().rows.push_back(std::move(row));
  };
  const std::string toolchain = ToUtf8(filter.toolchain), versions = toolchain + " ";
  const auto read = ReadPast({"trends", "", "", ""}, [&](soci::session& sql) -> Result<void> {
    if (!db_.dialect().HasTable(sql, "trends")) return {};
    const auto ask = [&](const std::string& which, const auto&... values) {
      QueryRows(std::make_index_sequence<kTrendFields.size()>(), sql,
                SelectRows() + which + " ORDER BY day, toolchain, name, gb_id", add,
                filter.since ? FormatDay(*filter.since) : kFirstDay, filter.until ? FormatDay(*filter.until) : kLastDay,
                ToUtf8(filter.mode), std::string(TrendScopeName(filter.by)), Int{filter.name.empty()},
                ToUtf8(filter.name), Int{filter.gb_id.empty()}, ToUtf8(filter.gb_id), values...);
    };
    toolchain.empty() ? ask(" AND published = 1")
                      : ask(" AND (toolchain = :toolchain OR SUBSTR(toolchain, 1, :length) = :versions)", toolchain,
                            Int(versions.size()), versions);
    return {};
  });
  if (!read) return read.error();
  return folds;
}

}  // namespace breakwatch::store
