#include "batch.h"

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch::store {
namespace {

constexpr std::size_t kFlushBytes = 1u << 20;

}  // namespace

Batch::Batch(soci::session& sql, const Dialect& dialect, const std::string& table, std::vector<Column> columns,
             const std::string& on_conflict)
    : sql_(sql), columns_(std::move(columns)) {
  std::string names, values;
  for (const auto& column : columns_) {
    const std::string value = "rows.value->>'" + column.name + "'";
    names.append(names.empty() ? "" : ", ").append(column.name);
    values.append(values.empty() ? "" : ", ").append(column.integer ? "CAST(" + value + " AS BIGINT)" : value);
  }
  // "WHERE true" prevents SQLite from parsing ON CONFLICT as the ON of a join.
  statement_ = "INSERT INTO " + table + " (" + names + ") SELECT " + values + " FROM " + dialect.JsonRows() +
               " WHERE true " + on_conflict;
}

void Batch::Add(std::vector<nlohmann::json> values) {
  nlohmann::json row = nlohmann::json::object();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto& value = values.at(i);
    row[columns_[i].name] = value.is_string() ? nlohmann::json(ToUtf8(value.get_ref<const std::string&>())) : value;
  }
  rows_.append(rows_.empty() ? "[" : ",").append(JsonText(row));
  if (rows_.size() >= kFlushBytes) Flush();
}

void Batch::Flush() {
  if (rows_.empty()) return;
  rows_.push_back(']');
  sql_ << statement_, soci::use(rows_, "batch");
  rows_.clear();
}

std::string TextArray(const std::vector<std::string>& texts) {
  auto array = nlohmann::json::array();
  for (const auto& text : texts) array.push_back({{"v", ToUtf8(text)}});
  return JsonText(array);
}

}  // namespace breakwatch::store
