#include "batch.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "schema.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {

void SqlStore::WriteModels(soci::session& sql, const ModelList& models) {
  // On PostgreSQL a statement must not change a row twice. Of equal names the last one is used.
  std::map<std::string, const TrackedModel*> last;
  for (const auto& model : models) last[ToUtf8(model.model)] = &model;
  Batch rows(sql, db_.dialect(), "current", {{"model"}, {"tracked", true}, {"document"}},
             "ON CONFLICT (model) DO UPDATE SET tracked = excluded.tracked, document = excluded.document");
  for (const auto& [name, model] : last) rows.Add({name, model->tracked ? 1 : 0, ToJson(*model)});
  rows.Flush();
}

void SqlStore::WriteChange(soci::session& sql, const CurrentChange& change) {
  WriteModels(sql, change.upserts);
  for (const std::string& model : change.removals) Exec(sql, "DELETE FROM current WHERE model = :model", ToUtf8(model));
  for (const auto& [key, value] : change.meta)
    Exec(sql,
         "INSERT INTO current_meta (key, value) VALUES (:key, :value)"
         " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
         ToUtf8(key), ToUtf8(value));
  WriteTrends(sql, change.trends);
}

Result<Current> SqlStore::LoadCurrent() {
  Current current;
  auto read = ReadPast({"current", "", "", ""}, [&](soci::session& sql) -> Result<void> {
    Query<std::string, std::string>(sql, "SELECT model, document FROM current ORDER BY model",
                                    [&](const std::string& name, const std::string& document) {
                                      if (auto model = TrackedModelFromJson(document))
                                        current.models.push_back(std::move(*model));
                                      else
                                        current.damaged = true, Report({"current", name, name, model.error().message});
                                      return true;
                                    });
    Query<std::string, std::string>(
        sql, "SELECT key, value FROM current_meta",
        [&](const std::string& key, const std::string& value) { return current.meta[key] = value, true; });
    return {};
  });
  if (!read) return read.error();
  if (!*read) current.damaged = true;
  return current;
}

Result<void> SqlStore::ReplaceCurrent(const Current& current, const TrendChange& trends) {
  const auto fill = [&](soci::session& sql) {
    WriteModels(sql, current.models);
    WriteChange(sql, {.meta = current.meta, .trends = trends});
  };
  auto replaced = db_.Write([&](soci::session& sql) -> Result<void> {
    Exec(sql, "DELETE FROM current");
    Exec(sql, "DELETE FROM current_meta");
    fill(sql);
    return {};
  });
  if (replaced || !db_.MetDamage()) return replaced;
  // Damaged pages cannot even be emptied. The old tables are renamed until the store is repaired, and new ones are
  // created.
  return db_.Write([&](soci::session& sql) -> Result<void> {
    const std::string mark = "_damaged_" + std::to_string(Nanoseconds(clock_.Now()));
    for (const char* table : {"current", "current_meta"}) {
      sql << std::string("ALTER TABLE ") + table + " RENAME TO " + table + mark;
    }
    for (const char* table : kFoldTables) sql << db_.dialect().WithTypes(table);
    fill(sql);
    return {};
  });
}

}  // namespace breakwatch::store
