#include "batch.h"
#include "breakwatch/core/text.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {

Result<std::vector<std::string>> SqlStore::OwnedGroups(const std::string& gateway) {
  return db_.Read([&](soci::session& sql) -> Result<std::vector<std::string>> {
    std::vector<std::string> groups;
    Query<std::string>(
        sql, "SELECT name FROM gateway_groups WHERE gateway = :gateway ORDER BY position",
        [&](const std::string& name) { return groups.push_back(name), true; }, ToUtf8(gateway));
    return groups;
  });
}

Result<void> SqlStore::SetOwnedGroups(const std::string& gateway, const std::vector<std::string>& groups) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    const std::string name = ToUtf8(gateway);
    Exec(sql, "DELETE FROM gateway_groups WHERE gateway = :gateway", name);
    Batch rows(sql, db_.dialect(), "gateway_groups", {{"gateway"}, {"position", true}, {"name"}});
    for (std::size_t i = 0; i < groups.size(); ++i) rows.Add({name, i, groups[i]});
    rows.Flush();
    return {};
  });
}

}  // namespace breakwatch::store
