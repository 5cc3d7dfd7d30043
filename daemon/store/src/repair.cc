#include "breakwatch/store/repair.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "dialect.h"
#include "document_checks.h"
#include "documents.h"
#include "salvage.h"

namespace breakwatch::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kScheme = "sqlite:";
// The maximum gap between event ids. Behind a larger gap, the id or the cursor itself is damaged.
constexpr std::int64_t kMaxLostEvents = 100'000;

// Why a row cannot be kept. `copy`: the rows kept so far.
using DocumentCheck = Cause (*)(const Row& row, Sqlite& copy);

Cause NoCause(const Row&, Sqlite&) { return std::nullopt; }
Cause OfSweep(const Row& row, Sqlite&) {
  if (auto cause = CheckSweep(row.Text("document"))) return cause;
  return CheckPlanHead(row.Text("plan_document"));
}
Cause OfPlanned(const Row& row, Sqlite&) { return CheckPlanned(row.Text("document")); }
Cause OfCapture(const Row& row, Sqlite&) { return CheckCapture(row.Text("document")); }
Cause OfResult(const Row& row, Sqlite& copy) {
  const std::string id = row.Text("capture_id");
  const std::string capture = id.empty() ? "" : copy.Text("SELECT document FROM captures WHERE id = ?", id);
  if (!id.empty() && capture.empty()) return "its capture " + id + " is lost";
  return CauseOf(DecodeResult(row.Text("document"), capture));
}
Cause OfStep(const Row& row, Sqlite&) {
  return row.Text("kind") == "result" ? std::nullopt : CheckSweep(row.Text("document"));
}
Cause OfRevision(const Row& row, Sqlite&) { return CheckToolchain(row.Text("toolchain_document")); }
Cause OfArtifact(const Row& row, Sqlite&) { return CheckRequest(row.Text("document")); }
Cause OfStage(const Row& row, Sqlite&) { return CheckStage(row.Text("document")); }
Cause OfLine(const Row& row, Sqlite&) { return CheckLine(row.Text("line")); }

// Ordered so that referenced tables come first. Excludes the fold, and `meta`, which the copy already has.
struct Table {
  const char* name;
  std::array<const char*, 3> key;  // columns that identify a row
  const char* document;            // the column that is listed as lost
  DocumentCheck check;
};
constexpr std::array kTables{
    Table{"sweeps", {"id"}, "document", OfSweep},
    Table{"plans", {"sweep_id", "mode"}, "document", OfPlanned},
    Table{"plan_runs", {"sweep_id", "position"}, "", NoCause},
    Table{"structures", {"digest"}, "", NoCause},
    Table{"captures", {"id"}, "document", OfCapture},
    Table{"sites", {"capture_id", "position"}, "", NoCause},
    Table{"results", {"sweep_id", "mode"}, "document", OfResult},
    Table{"result_runs", {"sweep_id", "position"}, "", NoCause},
    Table{"steps", {"seq"}, "document", OfStep},
    Table{"revisions", {"model", "revision"}, "toolchain_document", OfRevision},
    Table{"costs", {"kind", "name", "mode"}, "", NoCause},
    Table{"events", {"id"}, "line", OfLine},
    Table{"event_runs", {"id"}, "", NoCause},
    Table{"cursors", {"exporter"}, "", NoCause},
    Table{"dead_letters", {"exporter", "event_id"}, "line", OfLine},
    Table{"requeued", {"exporter", "event_id"}, "", NoCause},
    Table{"paused", {"exporter"}, "", NoCause},
    Table{"trends", {"day", "scope", "name"}, "", NoCause},
    Table{"gateway_groups", {"gateway", "position"}, "", NoCause},
    Table{"artifacts", {"key"}, "document", OfArtifact},
    Table{"artifact_stages", {"key", "stage", "place"}, "document", OfStage},
};

// Restores missing rows from other tables, and deletes rows without their counterpart.
constexpr std::array kDerived{
    "UPDATE sweeps SET seq = t.began, finished_seq = CASE WHEN sweeps.state = 'finished' THEN t.finished ELSE 0 END"
    " FROM (SELECT sweep_id, MIN(seq) AS began, MAX(CASE WHEN kind = 'finished' THEN seq ELSE 0 END) AS finished"
    " FROM steps GROUP BY sweep_id) AS t WHERE t.sweep_id = sweeps.id AND sweeps.seq = 0",
    // Runs that lost rows become runs of one of the others each; rows that lost their run get one.
    "CREATE TEMP TABLE broken_plans AS SELECT * FROM plan_runs t WHERE t.models <> (SELECT COUNT(*) FROM plans p WHERE"
    " p.sweep_id = t.of_sweep AND p.position >= t.of_position AND p.position < t.of_position + t.models)",
    "DELETE FROM plan_runs WHERE (sweep_id, position) IN (SELECT sweep_id, position FROM broken_plans)",
    "INSERT INTO plan_runs SELECT t.sweep_id, t.position + p.position - t.of_position, p.sweep_id, p.position, 1"
    " FROM broken_plans t JOIN plans p ON p.sweep_id = t.of_sweep AND p.position >= t.of_position"
    " AND p.position < t.of_position + t.models",
    "INSERT OR IGNORE INTO plan_runs SELECT p.sweep_id, p.position, p.sweep_id, p.position, 1 FROM plans p WHERE NOT"
    " EXISTS (SELECT 1 FROM plan_runs t WHERE t.sweep_id = p.sweep_id AND t.position <= p.position"
    " AND t.position + t.models > p.position)",
    "CREATE TEMP TABLE broken_results AS SELECT * FROM result_runs t WHERE t.models <> (SELECT COUNT(*) FROM results r"
    " WHERE r.seq >= t.of_seq AND r.seq < t.of_seq + t.models)",
    "DELETE FROM result_runs WHERE (sweep_id, position) IN (SELECT sweep_id, position FROM broken_results)",
    "INSERT INTO result_runs SELECT t.sweep_id, t.position + r.seq - t.of_seq, t.seq + r.seq - t.of_seq, r.seq, 1,"
    " t.at_ns FROM broken_results t JOIN results r ON r.seq >= t.of_seq AND r.seq < t.of_seq + t.models",
    "INSERT OR IGNORE INTO result_runs SELECT r.sweep_id, COALESCE(p.position, 1000000000 + r.seq), r.seq, r.seq, 1, 0"
    " FROM results r LEFT JOIN all_plans p ON p.sweep_id = r.sweep_id AND p.model = r.model AND p.mode = r.mode"
    " WHERE NOT EXISTS (SELECT 1 FROM result_runs t WHERE t.sweep_id = r.sweep_id AND t.of_seq <= r.seq"
    " AND t.of_seq + t.models > r.seq)",
    "DELETE FROM steps WHERE kind = 'result' AND NOT EXISTS (SELECT 1 FROM results r WHERE r.seq = steps.seq)",
    "DELETE FROM steps WHERE kind = 'repeated' AND NOT EXISTS (SELECT 1 FROM result_runs t"
    " WHERE t.sweep_id = steps.sweep_id AND t.seq + t.models - 1 = steps.seq)",
    "INSERT INTO steps SELECT t.seq + t.models - 1, 'repeated', t.sweep_id, '', '', '' FROM result_runs t"
    " WHERE t.seq <> t.of_seq AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.seq = t.seq + t.models - 1)",
    "INSERT INTO steps SELECT r.seq, 'result', r.sweep_id, r.model, r.mode, '' FROM results r"
    " WHERE NOT EXISTS (SELECT 1 FROM steps s WHERE s.seq = r.seq)",
    "INSERT INTO steps SELECT w.seq, 'begun', w.id, '', '', w.document FROM sweeps w"
    " WHERE w.seq > 0 AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.seq = w.seq)",
    "INSERT INTO steps SELECT w.finished_seq, 'finished', w.id, '', '', w.document FROM sweeps w"
    " WHERE w.finished_seq > 0 AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.seq = w.finished_seq)",
    "DELETE FROM requeued WHERE NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.exporter = requeued.exporter"
    " AND d.event_id = requeued.event_id)",
};

Error Failed(const std::string& path, const std::string& cause) {
  return {ErrorCode::kStore, path + ": " + cause, false, {}};
}

std::string SystemCause() { return std::generic_category().message(errno); }

// Copies the owner and permissions of `like`. False if the system denies it (errno).
bool GiveTo(const std::string& path, const struct stat& like) {
  struct stat now {};
  if (::stat(path.c_str(), &now) != 0) return false;
  const bool is_theirs = now.st_uid == like.st_uid && now.st_gid == like.st_gid;
  return (is_theirs || ::chown(path.c_str(), like.st_uid, like.st_gid) == 0) &&
         ::chmod(path.c_str(), like.st_mode & 07777) == 0;
}

void SyncFolderOf(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

// Selects the largest set of events whose times increase by at least a nanosecond per id. Of equally large sets it
// prefers later events. Damage usually makes a time larger, and the next time is computed from the newest.
std::vector<bool> LongestRun(const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& times) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> ends;                       // for each length, the run with the smallest last time
  std::vector<std::size_t> before(ids.size(), kNone);  // the previous event in the longest run that ends with it
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (times[i] <= 0) continue;
    const auto at = std::upper_bound(ends.begin(), ends.end(), i, [&](std::size_t a, std::size_t b) {
      return times[a] - ids[a] < times[b] - ids[b];
    });
    if (at != ends.begin()) before[i] = *std::prev(at);
    at == ends.end() ? ends.push_back(i) : static_cast<void>(*at = i);
  }
  std::vector<bool> fits(ids.size(), false);
  for (std::size_t i = ends.empty() ? kNone : ends.back(); i != kNone; i = before[i]) fits[i] = true;
  return fits;
}

class SqliteRepair final : public Repair {
 public:
  SqliteRepair(std::string path, std::unique_ptr<Dialect> lock, const Clock& clock)
      : path_(std::move(path)),
        new_path_(path_ + ".repaired"),
        stamp_(CompactTime(clock.Now()) + "Z"),
        lost_path_(path_ + ".lost-" + stamp_ + ".jsonl"),
        lock_(std::move(lock)),
        clock_(clock) {}

  Result<void> Copy() override;
  std::string NewUrl() const override { return std::string(kScheme) + new_path_; }
  const std::map<std::string, std::int64_t>& kept() const override { return kept_; }
  const std::vector<Damage>& lost() const override { return lost_; }
  std::int64_t lost_rows() const override { return lost_rows_; }
  const std::string& LostPath() const override { return lost_path_; }
  Result<std::string> PutInPlace() override;

 private:
  void CopyTable(const Table& table, Sqlite& from, Sqlite& to);
  void Keep(const Table& table, Row& row, Sqlite& from, Sqlite& to);
  void Lose(Damage damage, const std::string& document);
  struct Range {
    std::int64_t id = 0, ts_ns = 0, events = 1;
  };
  static std::vector<Range> EventRanges(Sqlite& copy);
  void DropStrayEvents(Sqlite& copy);
  void CorrectTimes(Sqlite& copy);
  void FillEvents(Sqlite& copy);

  const std::string path_, new_path_, stamp_, lost_path_;
  std::unique_ptr<Dialect> lock_;
  const Clock& clock_;
  std::map<std::string, std::int64_t> kept_;
  std::vector<Damage> lost_;
  std::int64_t lost_rows_ = 0;
  std::ofstream lost_file_;
};

Result<void> SqliteRepair::Copy() {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(new_path_ + suffix, ignored);
  if (auto made = Store::Open({NewUrl()}, clock_); !made) return made.error();
  lost_file_.open(lost_path_, std::ios::binary | std::ios::trunc);
  Sqlite from, to;
  if (auto opened = from.Open(path_); !opened) return opened;
  if (auto opened = to.Open(new_path_); !opened) return opened;
  if (!from.Exec("SELECT COUNT(*) FROM sqlite_master"))
    return Failed("database " + path_, "nothing could be read (" + from.Cause() +
                                           "); restore a backup, or move the file away and start a new sweep");
  for (const char* begin : {"PRAGMA foreign_keys = ON", "BEGIN IMMEDIATE"})
    if (!to.Exec(begin)) return Failed("database " + new_path_, to.Cause());
  for (const Table& table : kTables) CopyTable(table, from, to);
  for (const char* derive : kDerived)
    if (!to.Exec(derive)) return Failed("database " + new_path_, to.Cause());
  DropStrayEvents(to);
  CorrectTimes(to);
  FillEvents(to);
  if (!to.Exec("COMMIT")) return Failed("database " + new_path_, to.Cause());
  lost_file_.close();
  if (lost_file_.fail()) return Failed(lost_path_, "cannot be written");
  return {};
}

void SqliteRepair::CopyTable(const Table& table, Sqlite& from, Sqlite& to) {
  const std::vector<Column> columns = CommonColumns(table.name, from, to);
  if (columns.empty()) return;  // the table is from an older version
  Salvage salvage(from, table.name, columns);
  salvage.ReadAll([&](Row& row) { Keep(table, row, from, to); },
                  [&](std::int64_t first, std::int64_t last, bool open) {
                    const std::string until = open ? " and after" : last > first ? " to " + std::to_string(last) : "";
                    Lose({table.name, "rowid " + std::to_string(first) + until, "", "unreadable"}, "");
                    if (!open) lost_rows_ += last - first;
                  });
}

void SqliteRepair::Keep(const Table& table, Row& row, Sqlite& from, Sqlite& to) {
  auto cause = row.WrongType();
  // The history also has the sweep's document.
  if (!cause && table.name == std::string_view("sweeps") && !SweepFromJson(row.Text("document"))) {
    row.Set("document", from.Text("SELECT document FROM steps WHERE sweep_id = ? AND kind <> 'result'"
                                  " ORDER BY seq DESC LIMIT 1",
                                  row.Text("id")));
  }
  if (!cause) cause = table.check(row, to);
  if (!cause && !row.InsertInto(table.name, to)) cause = "the row that it refers to is lost (" + to.Cause() + ")";
  if (!cause) {
    ++kept_[table.name];
    return;
  }
  std::string key;
  for (const char* column : table.key)
    if (column != nullptr) key += (key.empty() ? "" : ", ") + std::string(column) + " " + row.Text(column);
  Lose({table.name, key, row.Text("model"), *cause}, row.Text(table.document));
}

void SqliteRepair::Lose(Damage damage, const std::string& document) {
  const nlohmann::ordered_json line = {{"table", damage.table},
                                       {"row", damage.row},
                                       {"model", damage.model},
                                       {"what", damage.what},
                                       {"document", document}};
  lost_file_ << JsonText(line) << "\n";
  ++lost_rows_;
  if (lost_.size() < Store::kMaxDamage) lost_.push_back(std::move(damage));
}

// Every event, or run of events, in the order of ids.
std::vector<SqliteRepair::Range> SqliteRepair::EventRanges(Sqlite& copy) {
  std::vector<Range> ranges;
  std::map<std::int64_t, std::int64_t> lengths;
  copy.Numbers("SELECT id, events FROM event_runs",
               [&](std::int64_t id, std::int64_t events) { lengths[id] = std::max<std::int64_t>(events, 1); });
  copy.Numbers("SELECT id, ts_ns FROM events UNION ALL SELECT id, ts_ns FROM event_runs ORDER BY id",
               [&](std::int64_t id, std::int64_t ts) {
                 const auto length = lengths.find(id);
                 ranges.push_back({id, ts, length == lengths.end() ? 1 : length->second});
               });
  return ranges;
}

// Drops events with ids far from all others: such an id is damaged, and the gap has no events. Keeps the longest run of
// ids.
void SqliteRepair::DropStrayEvents(Sqlite& copy) {
  struct Run {
    std::int64_t first = 0, last = 0, rows = 0;
  };
  const std::vector<Range> ranges = EventRanges(copy);
  std::vector<Run> runs;
  for (const Range& range : ranges) {
    // No overflow: both are rowids that were read.
    if (runs.empty() ||
        static_cast<std::uint64_t>(range.id) - static_cast<std::uint64_t>(runs.back().last) > kMaxLostEvents)
      runs.push_back({range.id, range.id, 0});
    runs.back().last = range.id + range.events - 1;
    runs.back().rows += range.events;
  }
  if (runs.size() < 2) return;
  const auto kept =
      std::max_element(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.rows < b.rows; });
  for (const Range& range : ranges) {
    if (range.id >= kept->first && range.id <= kept->last) continue;
    const std::string text = std::to_string(range.id);
    const std::string line = copy.Text("SELECT line FROM events WHERE id = ?", text);
    Lose({"events", "id " + text, copy.Text("SELECT model FROM events WHERE id = ?", text),
          "its id is far from the ids of the other events"},
         line);
    for (const char* table : {"events", "event_runs"})
      copy.Exec("DELETE FROM " + std::string(table) + " WHERE id = " + text);
    --kept_[range.events > 1 ? "event_runs" : "events"];
  }
}

// Makes times increase with ids. Keeps the longest run of increasing times. Every other event follows the previous one
// by a nanosecond. If there is none, it precedes the next one.
void SqliteRepair::CorrectTimes(Sqlite& copy) {
  std::vector<std::int64_t> ids, times;
  for (const Range& range : EventRanges(copy)) ids.push_back(range.id), times.push_back(range.ts_ns);
  const std::vector<bool> fits = LongestRun(ids, times);
  std::vector<std::int64_t> corrected = times;
  for (std::size_t i = ids.size(); i-- > 0;) {
    if (!fits[i] && i + 1 < ids.size()) corrected[i] = corrected[i + 1] - (ids[i + 1] - ids[i]);
  }
  for (std::size_t i = 1; i < ids.size(); ++i) {
    if (!fits[i]) corrected[i] = corrected[i - 1] + (ids[i] - ids[i - 1]);
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (fits[i]) continue;
    const std::string id = std::to_string(ids[i]), ts = std::to_string(corrected[i]);
    for (const char* table : {"events", "event_runs"})
      copy.Exec("UPDATE " + std::string(table) + " SET ts_ns = " + ts + " WHERE id = " + id);
    Lose({"events", "id " + id, copy.Text("SELECT model FROM events WHERE id = ?", id),
          "its time " + std::to_string(times[i]) + " was out of order and is now " + ts},
         "");
  }
}

// Ids have no gaps and are never reused, so each lost event is replaced by one that reports the loss.
void SqliteRepair::FillEvents(Sqlite& copy) {
  std::vector<std::pair<std::int64_t, std::int64_t>> missing;  // id, time
  std::int64_t last = 0, ts_ns = 0;
  for (const Range& range : EventRanges(copy)) {
    for (; last > 0 && last + 1 < range.id; ++last) missing.emplace_back(last + 1, ++ts_ns);
    last = range.id + range.events - 1, ts_ns = range.ts_ns + range.events - 1;
  }
  std::int64_t named = last;
  copy.Numbers("SELECT MAX(e), 0 FROM (SELECT event_id AS e FROM cursors UNION ALL SELECT event_id FROM dead_letters)",
               [&](std::int64_t id, std::int64_t) { named = std::max(named, id); });
  if (named - last > kMaxLostEvents) {
    copy.Exec("UPDATE cursors SET event_id = MIN(event_id, " + std::to_string(last) + ")");
    named = last;
  }
  for (; last < named; ++last) missing.emplace_back(last + 1, ++ts_ns);
  for (const auto& [id, ts] : missing) copy.InsertEvent(id, ts, LostEventLine(id, ts));
}

Result<std::string> SqliteRepair::PutInPlace() {
  const std::string damaged = path_ + ".damaged-" + stamp_;
  {
    // The old journal must not be applied to the copy.
    Sqlite old;
    if (old.Open(path_)) (void)old.Exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  if (::access((new_path_ + "-wal").c_str(), F_OK) == 0) return Failed(new_path_, "is still in use");
  // The user who repairs may differ from the daemon's user.
  struct stat like {};
  if (::stat(path_.c_str(), &like) != 0) return Failed(path_, SystemCause());
  for (const std::string& path : {new_path_, lost_path_}) {
    if (!GiveTo(path, like)) return Failed(path, "cannot get the owner of " + path_ + ": " + SystemCause());
  }
  (void)GiveTo(path_ + ".lock", like);
  if (::access(damaged.c_str(), F_OK) == 0) return Failed(damaged, "exists already");
  if (::link(path_.c_str(), damaged.c_str()) != 0 && ::rename(path_.c_str(), damaged.c_str()) != 0)
    return Failed(damaged, SystemCause());
  for (const char* suffix : {"-wal", "-shm"}) {
    if (::rename((path_ + suffix).c_str(), (damaged + suffix).c_str()) != 0 && errno != ENOENT)
      return Failed(damaged + suffix, SystemCause());
  }
  SyncFolderOf(path_);
  if (::rename(new_path_.c_str(), path_.c_str()) != 0) return Failed(path_, SystemCause());
  SyncFolderOf(path_);
  return damaged;
}

}  // namespace

Result<std::unique_ptr<Repair>> Repair::Begin(const std::string& url, const Clock& clock) {
  auto dialect = MakeDialect(url, std::chrono::seconds(10));
  if (!dialect) return dialect.error();
  if (!url.starts_with(kScheme)) {
    return Error{ErrorCode::kStore, (*dialect)->DisplayName() +
                                        " is on a server, which breakwatch cannot repair: restore it "
                                        "with the server's own tools (pg_restore), or delete the rows that "
                                        "`breakwatch store check` lists, then run `breakwatch store rebuild`"};
  }
  const std::string path = url.substr(kScheme.size());
  if (auto located = (*dialect)->Locate(/*read_only=*/true); !located) return located.error();
  soci::session none;
  try {
    if (!(*dialect)->TryWriterLock(none))
      return Error{ErrorCode::kStore, "database " + path + " is in use by a writer; stop it first", true, {}};
  } catch (const soci::soci_error& error) {
    return Failed(path, error.get_error_message());
  }
  return std::unique_ptr<Repair>(std::make_unique<SqliteRepair>(path, *std::move(dialect), clock));
}

}  // namespace breakwatch::store
