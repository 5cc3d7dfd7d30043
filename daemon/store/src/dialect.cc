#include "dialect.h"

#include <fcntl.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "file_id.h"

namespace breakwatch::store {
namespace {

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

class SqliteDialect : public Dialect {
 public:
  SqliteDialect(std::string path, std::chrono::milliseconds lock_timeout)
      : path_(std::move(path)), display_("database " + path_), lock_timeout_(lock_timeout) {}

  ~SqliteDialect() override {
    if (lock_fd_ >= 0) ::close(lock_fd_);
  }

  const std::string& DisplayName() const override { return display_; }

  Result<void> Locate(bool read_only) override {
    std::error_code ignored, unseen;
    const bool is_there = std::filesystem::exists(path_, unseen);
    if (unseen) return ToError(Failure::kCannotOpen, display_, unseen.message());
    if (read_only && !is_there)
      return Error{ErrorCode::kNotFound, display_ + " does not exist yet; run a sweep or set --state-dir"};
    if (std::filesystem::is_directory(path_, ignored))
      return ToError(Failure::kCannotOpen, display_, "it is a directory");
    const auto folder = std::filesystem::path(path_).parent_path();
    if (read_only || folder.empty()) return {};
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    // Some library versions report an error for an existing folder behind a link.
    if (error && !std::filesystem::is_directory(folder, ignored))
      return ToError(Failure::kCannotOpen, display_, folder.string() + ": " + error.message());
    return {};
  }

  void Connect(soci::session& sql, bool read_only) override {
    const bool frozen = read_only && access(Folder().c_str(), W_OK) != 0;
    try {
      Open(sql, ConnectString(path_), read_only);
      opened_ = FileId::Of(path_);
      if (frozen) (void)IsEmpty(sql);
    } catch (const soci::soci_error&) {
      // If the journal's index cannot be created, the database can only be opened as immutable. Entries that a crash
      // left in the journal are then invisible.
      if (!frozen) throw;
      sql.close();
      const std::string path = std::filesystem::absolute(path_).string();
      Open(sql, ConnectString("file:" + Escaped(path) + "?immutable=1"), read_only);
    }
  }

  // If the database was removed or replaced, this session would write rows to a file that no other process finds.
  Result<void> StillThere() const override {
    if (!opened_ || opened_ == FileId::Of(path_)) return {};
    return ToError(Failure::kReplaced, display_, FileId::Of(path_) ? "another file is in its place" : "it is gone");
  }

  std::vector<std::string> BeginWrite() const override { return {"BEGIN IMMEDIATE"}; }
  std::vector<std::string> BeginRead() const override { return {"BEGIN"}; }
  std::vector<std::string> BeginMigration() const override { return {"BEGIN IMMEDIATE"}; }

  bool HasTable(soci::session& sql, const std::string& name) const override {
    long long count = 0;
    sql << "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = :name", soci::use(name),
        soci::into(count);
    return count > 0;
  }
  bool IsEmpty(soci::session& sql) const override {
    long long count = 0;
    sql << "SELECT COUNT(*) FROM sqlite_master", soci::into(count);
    return count == 0;
  }
  std::string JsonRows() const override { return "json_each(:batch) AS rows"; }

  Failure Classify(const soci::soci_error& error) const override {
    const auto* sqlite = dynamic_cast<const soci::sqlite3_soci_error*>(&error);
    if (sqlite == nullptr) return Failure::kOther;
    static const std::map<int, Failure> kFailures{
        {SQLITE_FULL, Failure::kDiskFull},       {SQLITE_IOERR, Failure::kDiskError},
        {SQLITE_BUSY, Failure::kLocked},         {SQLITE_LOCKED, Failure::kLocked},
        {SQLITE_CORRUPT, Failure::kCorrupted},   {SQLITE_NOTADB, Failure::kCorrupted},
        {SQLITE_CANTOPEN, Failure::kCannotOpen}, {SQLITE_PERM, Failure::kCannotOpen},
        {SQLITE_READONLY, Failure::kReadOnly},   {SQLITE_CONSTRAINT, Failure::kDuplicate},
    };
    const auto found = kFailures.find(sqlite->result() & 0xff);
    if (found == kFailures.end()) return Failure::kOther;
    // The library reports an I/O error if the journal's index cannot grow.
    return found->second == Failure::kDiskError && IsFull() ? Failure::kDiskFull : found->second;
  }

  std::vector<std::string> IntegrityProblems(soci::session& sql) const override {
    std::vector<std::string> problems;
    std::string line;
    soci::statement check = (sql.prepare << "PRAGMA integrity_check(20)", soci::into(line));
    check.execute();
    while (check.fetch())
      if (line != "ok") problems.push_back(line);
    std::string table;
    soci::statement keys = (sql.prepare << "SELECT \"table\" FROM pragma_foreign_key_check", soci::into(table));
    keys.execute();
    while (keys.fetch() && problems.size() < 20) problems.push_back("a row of " + table + " refers to nothing");
    return problems;
  }

  // The lock of the state directory does not exclude a writer with another state directory and the same database. This
  // lock uses a separate file, because closing a descriptor of the database would release the library's own locks.
  bool TryWriterLock(soci::session&) const override {
    if (lock_fd_ >= 0) return true;
    const int fd = ::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) throw soci::soci_error(path_ + ".lock: " + std::generic_category().message(errno));
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && FileId::Of(fd) == FileId::Of(path_ + ".lock"))
      return lock_fd_ = fd, true;
    ::close(fd);
    return false;
  }

 protected:
  Types ColumnTypes() const override { return {"TEXT", "BIGINT", "INTEGER PRIMARY KEY"}; }

 private:
  // SOCI takes a string without '=' as a path, including blanks. Otherwise it needs a quoted value.
  static std::string ConnectString(const std::string& path) {
    return path.find('=') == std::string::npos ? path : "db=\"" + path + "\"";
  }
  std::string Folder() const {
    const auto folder = std::filesystem::path(path_).parent_path();
    return folder.empty() ? "." : folder.string();
  }
  bool IsFull() const {
    struct statvfs disk {};
    return ::statvfs(Folder().c_str(), &disk) == 0 && disk.f_bavail == 0;
  }
  // Escapes a path for a URI.
  static std::string Escaped(const std::string& path) {
    return Replaced(Replaced(Replaced(path, "%", "%25"), "?", "%3f"), "#", "%23");
  }

  void Open(soci::session& sql, const std::string& connect, bool read_only) const {
    sql.open(soci::sqlite3, connect);
    // Set first: even reading the header waits for a writer that creates the journal.
    Pragma(sql, "busy_timeout=" + std::to_string(lock_timeout_.count()));
    if (!read_only) Pragma(sql, "journal_mode=WAL");
    Pragma(sql, "synchronous=FULL");
    Pragma(sql, "foreign_keys=ON");
    Pragma(sql, "journal_size_limit=67108864");
    if (read_only) Pragma(sql, "query_only=ON");
  }

  static void Pragma(soci::session& sql, const std::string& text) {
    std::string answer;
    soci::indicator given = soci::i_null;
    sql << "PRAGMA " + text, soci::into(answer, given);
  }

  std::string path_, display_;
  std::chrono::milliseconds lock_timeout_;
  std::optional<FileId> opened_;
  mutable int lock_fd_ = -1;  // held until the session ends
};

// The key of our lock among all advisory locks of a PostgreSQL server: the text "breakwat" as a number.
constexpr const char* kAdvisoryKey = "7093845771894972788";

class PostgresDialect : public Dialect {
 public:
  PostgresDialect(std::string conninfo, std::string display, std::chrono::milliseconds lock_timeout)
      : conninfo_(std::move(conninfo)), display_(std::move(display)), lock_timeout_(lock_timeout) {}

  const std::string& DisplayName() const override { return display_; }
  Result<void> Locate(bool) override { return {}; }

  void Connect(soci::session& sql, bool read_only) override {
    sql.open(soci::postgresql, conninfo_);
    sql << "SET client_min_messages = warning";  // notices would go to standard error
    SetLockTimeout(sql);
    if (read_only)
      sql << "SET default_transaction_read_only = on";
    else
      sql << "SET synchronous_commit = on";
  }

  std::vector<std::string> BeginWrite() const override {
    // Excludes other writers, but not readers.
    return {"BEGIN", "LOCK TABLE events IN EXCLUSIVE MODE"};
  }
  std::vector<std::string> BeginRead() const override { return {"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}; }
  std::vector<std::string> BeginMigration() const override {
    return {"BEGIN", std::string("SELECT pg_advisory_xact_lock(") + kAdvisoryKey + " + 1)"};
  }

  bool HasTable(soci::session& sql, const std::string& name) const override {
    long long count = 0;
    sql << "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = "
           ":name",
        soci::use(name), soci::into(count);
    return count > 0;
  }
  // A schema may be shared with extensions; a name clash fails by itself.
  bool IsEmpty(soci::session&) const override { return true; }
  std::string JsonRows() const override { return "jsonb_array_elements(CAST(:batch AS jsonb)) AS rows(value)"; }

  Failure Classify(const soci::soci_error& error) const override {
    const auto* postgres = dynamic_cast<const soci::postgresql_soci_error*>(&error);
    if (postgres == nullptr) return Failure::kCannotOpen;  // only connecting throws the base type
    static const std::map<std::string, Failure, std::less<>> kFailures{
        {"53100", Failure::kDiskFull},       {"55P03", Failure::kLocked},         {"40001", Failure::kLocked},
        {"40P01", Failure::kLocked},         {"XX001", Failure::kCorrupted},      {"XX002", Failure::kCorrupted},
        {"25006", Failure::kReadOnly},       {"42501", Failure::kReadOnly},       {"57P01", Failure::kConnectionLost},
        {"57P02", Failure::kConnectionLost}, {"57P03", Failure::kConnectionLost},
    };
    const std::string state = postgres->sqlstate();
    if (const auto found = kFailures.find(state); found != kFailures.end()) return found->second;
    if (state.starts_with("23")) return Failure::kDuplicate;
    if (state.starts_with("08") || error.get_error_category() == soci::soci_error::connection_error)
      return Failure::kConnectionLost;
    return Failure::kOther;
  }

  // The server checks its own pages. Our own checks are common to both databases.
  std::vector<std::string> IntegrityProblems(soci::session&) const override { return {}; }

  bool TryWriterLock(soci::session& sql) const override {
    // Waits briefly, because the server releases the lock of a closed connection with a delay.
    sql << "SET lock_timeout = 1000";
    bool taken = true;
    try {
      sql << std::string("SELECT pg_advisory_lock(") + kAdvisoryKey + ")";
    } catch (const soci::soci_error& error) {
      if (Classify(error) != Failure::kLocked) throw;
      taken = false;
    }
    SetLockTimeout(sql);
    return taken;
  }

 protected:
  // The order of model names must not depend on the server's locale.
  Types ColumnTypes() const override { return {"TEXT COLLATE \"C\"", "BIGINT", "BIGINT PRIMARY KEY"}; }

 private:
  void SetLockTimeout(soci::session& sql) const {
    sql << "SET lock_timeout = " + std::to_string(lock_timeout_.count());
  }

  std::string conninfo_, display_;
  std::chrono::milliseconds lock_timeout_;
};

// Quotes a value for libpq, with backslashes before quotes and backslashes.
std::string Quoted(std::string value) {
  return "'" + Replaced(Replaced(std::move(value), "\\", "\\\\"), "'", "\\'") + "'";
}

Result<std::unique_ptr<Dialect>> MakePostgres(const std::string& url, std::chrono::milliseconds lock_timeout) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed(PQconninfoParse(url.c_str(), &message),
                                                                            &PQconninfoFree);
  if (parsed == nullptr) {
    const std::string cause = message == nullptr ? "not understood" : message;
    PQfreemem(message);
    return Error{ErrorCode::kConfig, "store.url: " + cause + "; expected postgresql://user@host/database"};
  }
  // A server that disappeared must not block the loop forever. The URL's own values take precedence.
  std::map<std::string, std::string> options{
      {"application_name", "breakwatch"}, {"connect_timeout", "10"}, {"tcp_user_timeout", "30000"}};
  for (const auto* option = parsed.get(); option->keyword != nullptr; ++option)
    if (option->val != nullptr) options[option->keyword] = option->val;
  std::string conninfo;
  for (const auto& [key, value] : options) conninfo.append(key).append("=").append(Quoted(value)).append(" ");
  const auto given = [&](const char* key, const char* otherwise) {
    return options.contains(key) ? options[key] : std::string(otherwise);
  };
  const std::string display = "PostgreSQL database " + given("dbname", "(default)") + " at " +
                              given("host", "(local)") + ":" + given("port", "5432");
  return std::unique_ptr<Dialect>(std::make_unique<PostgresDialect>(std::move(conninfo), display, lock_timeout));
}

}  // namespace

std::string Dialect::WithTypes(std::string ddl) const {
  const Types types = ColumnTypes();
  return Replaced(Replaced(Replaced(std::move(ddl), "$TEXT", types.text), "$INT", types.integer), "$ID", types.id);
}

Result<std::unique_ptr<Dialect>> MakeDialect(const std::string& url, std::chrono::milliseconds lock_timeout) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (url.starts_with(kSqlite) && url.size() > kSqlite.size())
    return std::unique_ptr<Dialect>(std::make_unique<SqliteDialect>(url.substr(kSqlite.size()), lock_timeout));
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) return MakePostgres(url, lock_timeout);
  // The text may contain a password, so only its beginning is shown.
  return Error{ErrorCode::kConfig, "store.url begins with \"" +
                                       url.substr(0, std::min(url.find(':'), std::size_t{20})) +
                                       "\"; expected sqlite:/path/to/file or postgresql://user@host/database"};
}

}  // namespace breakwatch::store
