#include "salvage.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "breakwatch/core/text.h"

namespace breakwatch::store {
namespace {

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

// If the last page of a table is damaged, the distance to search for rows after the last readable one.
constexpr std::int64_t kFurtherRows = 4'000;

Statement Prepare(sqlite3* db, const std::string& text) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, text.c_str(), -1, &statement, nullptr);
  return {statement, &sqlite3_finalize};
}

void Bind(sqlite3_stmt* statement, int index, const std::string& text) {
  sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

std::string TextOf(sqlite3_stmt* statement, int column) {
  const auto* text = sqlite3_column_text(statement, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), size);
}

Row::Value ValueOf(sqlite3_stmt* statement, int column) {
  const int type = sqlite3_column_type(statement, column);
  if (type == SQLITE_INTEGER) return {type, sqlite3_column_int64(statement, column), {}};
  return {type, 0, type == SQLITE_NULL ? std::string() : TextOf(statement, column)};
}

}  // namespace

Result<void> Sqlite::Open(const std::string& path) {
  if (sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK)
    return Error{ErrorCode::kStore, "database " + path + ": " + Cause()};
  sqlite3_busy_timeout(db_, 10'000);
  return {};
}

bool Sqlite::Exec(const std::string& text) {
  return sqlite3_exec(db_, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

std::string Sqlite::Text(const std::string& query, const std::string& value) {
  const Statement statement = Prepare(db_, query);
  if (!statement) return {};
  Bind(statement.get(), 1, value);
  return sqlite3_step(statement.get()) == SQLITE_ROW ? TextOf(statement.get(), 0) : std::string();
}

void Sqlite::Numbers(const std::string& query, const std::function<void(std::int64_t, std::int64_t)>& each) {
  const Statement statement = Prepare(db_, query);
  while (statement && sqlite3_step(statement.get()) == SQLITE_ROW)
    each(sqlite3_column_int64(statement.get(), 0), sqlite3_column_int64(statement.get(), 1));
}

bool Sqlite::InsertEvent(std::int64_t id, std::int64_t ts_ns, const std::string& line) {
  const Statement statement =
      Prepare(db_, "INSERT INTO events (id, ts_ns, sweep_id, model, revision, line) VALUES (?, ?, '', '', '', ?)");
  if (!statement) return false;
  sqlite3_bind_int64(statement.get(), 1, id);
  sqlite3_bind_int64(statement.get(), 2, ts_ns);
  Bind(statement.get(), 3, line);
  return sqlite3_step(statement.get()) == SQLITE_DONE;
}

std::vector<Column> CommonColumns(const std::string& table, Sqlite& a, Sqlite& b) {
  const auto columns_of = [&](Sqlite& db) {
    std::vector<Column> columns;
    const Statement statement = Prepare(db.get(), "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?)");
    if (!statement) return columns;
    Bind(statement.get(), 1, table);
    while (sqlite3_step(statement.get()) == SQLITE_ROW) {
      const bool needed = sqlite3_column_int(statement.get(), 2) != 0 || sqlite3_column_int(statement.get(), 3) != 0;
      columns.push_back({TextOf(statement.get(), 0), TextOf(statement.get(), 1) == "TEXT", !needed});
    }
    return columns;
  };
  std::vector<Column> columns = columns_of(a);
  const std::vector<Column> others = columns_of(b);
  std::erase_if(columns, [&](const Column& column) {
    return std::none_of(others.begin(), others.end(), [&](const Column& other) { return other.name == column.name; });
  });
  return columns;
}

std::string Row::Text(const std::string& column) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name != column) continue;
    return values_[i].type == SQLITE_INTEGER ? std::to_string(values_[i].number) : values_[i].text;
  }
  return {};
}

void Row::Set(const std::string& column, std::string text) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name != column) continue;
    values_[i] = {SQLITE_TEXT, 0, std::move(text)};
    return;
  }
}

std::optional<std::string> Row::WrongType() const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Value& value = values_[i];
    if (value.type == SQLITE_NULL && columns_[i].may_be_null) continue;
    const bool right = columns_[i].is_text ? value.type == SQLITE_TEXT && ToUtf8(value.text) == value.text
                                           : value.type == SQLITE_INTEGER;
    if (!right) return "its column " + columns_[i].name + " has the wrong type";
  }
  return std::nullopt;
}

bool Row::InsertInto(const std::string& table, Sqlite& db) const {
  std::string names, places;
  for (const Column& column : columns_) {
    names += (names.empty() ? "" : ", ") + column.name;
    places += places.empty() ? "?" : ", ?";
  }
  const Statement statement = Prepare(db.get(), "INSERT INTO " + table + " (" + names + ") VALUES (" + places + ")");
  if (!statement) return false;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const int index = static_cast<int>(i) + 1;
    if (values_[i].type == SQLITE_INTEGER)
      sqlite3_bind_int64(statement.get(), index, values_[i].number);
    else if (values_[i].type != SQLITE_NULL)
      Bind(statement.get(), index, values_[i].text);
  }
  return sqlite3_step(statement.get()) == SQLITE_DONE;
}

Salvage::Salvage(Sqlite& db, const std::string& table, const std::vector<Column>& columns)
    : db_(db), table_(table), columns_(columns), select_("SELECT rowid") {
  for (const Column& column : columns_) select_ += ", " + column.name;
  select_ += " FROM " + table_ + " WHERE rowid BETWEEN ? AND ? ORDER BY rowid ";
}

void Salvage::ReadAll(const std::function<void(Row&)>& row, const Lost& lost) {
  row_ = row;
  unread_.clear();
  in_a_row_ = 0;
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  const auto from = Read("ASC", 1, kLast, 1);
  if (!from) return;
  const auto to = Read("DESC", *from, kLast, kLast);
  if (!to) return;
  const bool open = *to == kLast;
  const std::int64_t last = open ? *from + kFurtherRows : *to;
  ReadRange(*from, last);
  for (std::size_t i = 0; i < unread_.size();) {  // in order, because halves are read in order
    Range range = unread_[i++];
    for (; i < unread_.size() && unread_[i].first == range.last + 1; ++i)
      range.last = unread_[i].last, range.open = range.open || unread_[i].open;
    lost(range.first, range.last, range.open || (open && range.last == last));
  }
}

void Salvage::ReadRange(std::int64_t from, std::int64_t to) {
  const auto first = Read("ASC", from, to, from);
  if (!first) return;
  const auto last = Read("DESC", *first, to, to);
  if (!last || *first > *last) return;
  if (*first == *last || in_a_row_ >= kMaxUnread) {
    ++in_a_row_;
    return unread_.push_back({*first, *last, *first != *last});
  }
  const std::int64_t middle = *first + (*last - *first) / 2;
  ReadRange(*first, middle);
  ReadRange(middle + 1, *last);
}

std::optional<std::int64_t> Salvage::Read(const char* order, std::int64_t from, std::int64_t to, std::int64_t next) {
  const Statement statement = Prepare(db_.get(), select_ + order);
  if (!statement) return next;
  sqlite3_bind_int64(statement.get(), 1, from);
  sqlite3_bind_int64(statement.get(), 2, to);
  const std::int64_t step = order[0] == 'A' ? 1 : -1;
  int code = SQLITE_OK;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
    std::vector<Row::Value> values;
    for (int i = 0; i < static_cast<int>(columns_.size()); ++i) values.push_back(ValueOf(statement.get(), i + 1));
    Row row(columns_, std::move(values));
    row_(row);
    in_a_row_ = 0;
    next = sqlite3_column_int64(statement.get(), 0) + step;
  }
  return code == SQLITE_DONE ? std::nullopt : std::optional(next);
}

}  // namespace breakwatch::store
