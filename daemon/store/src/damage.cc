// Finds damage: checks every document of every table, and runs the database's own check.
#include <array>
#include <set>
#include <string_view>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "document_checks.h"
#include "documents.h"
#include "runs.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

struct Rule {
  const char* count_broken;  // 0 if there is no damage
  const char* meaning;
};

// Rules that the schema's keys cannot express. RANGES: every event, or run of events, with its first and last id and
// time.
constexpr std::array kRules{
    Rule{"SELECT COALESCE(MAX(last) - MIN(first) + 1 - SUM(last - first + 1), 0) FROM RANGES", "event ids have gaps"},
    Rule{"SELECT COUNT(*) FROM (SELECT ts_ns, LAG(last_ns) OVER (ORDER BY first) AS before FROM RANGES) AS pairs"
         " WHERE ts_ns <= before",
         "event times do not increase"},
    Rule{"SELECT COUNT(*) FROM steps s LEFT JOIN results r ON r.seq = s.seq WHERE s.kind = 'result' AND r.seq IS NULL",
         "steps of history have lost their result"},
    Rule{"SELECT COUNT(*) FROM results r LEFT JOIN steps s ON s.seq = r.seq WHERE s.seq IS NULL",
         "results are missing in history"},
    Rule{"SELECT COUNT(*) FROM cursors WHERE event_id > (SELECT COALESCE(MAX(last), 0) FROM RANGES)",
         "cursors are past the newest event"},
};
constexpr const char* kRanges =
    "(SELECT id AS first, id AS last, ts_ns, ts_ns AS last_ns FROM events"
    " UNION ALL SELECT id, id + events - 1, ts_ns, ts_ns + events - 1 FROM event_runs) AS ranges";
constexpr const char* kOldRanges = "(SELECT id AS first, id AS last, ts_ns, ts_ns AS last_ns FROM events) AS ranges";

// Rules of runs, which an older version does not have.
static_assert(kMaxRun == 512, "as in the text below");
constexpr std::array kRunRules{
    Rule{"SELECT COUNT(*) FROM steps s WHERE s.kind = 'repeated' AND NOT EXISTS (SELECT 1 FROM result_runs t"
         " WHERE t.sweep_id = s.sweep_id AND t.seq + t.models - 1 = s.seq)",
         "steps of history have lost their repeated results"},
    Rule{"SELECT COUNT(*) FROM results r WHERE NOT EXISTS (SELECT 1 FROM result_runs t WHERE t.sweep_id = r.sweep_id"
         " AND t.of_seq <= r.seq AND t.of_seq > r.seq - 512 AND t.of_seq + t.models > r.seq)",
         "results are in no sweep"},
    Rule{"SELECT COUNT(*) FROM result_runs t WHERE t.models <> (SELECT COUNT(*) FROM results r WHERE r.seq >= t.of_seq"
         " AND r.seq < t.of_seq + t.models)",
         "sweeps have lost results that they repeat"},
    Rule{"SELECT COUNT(*) FROM plan_runs t WHERE t.models <> (SELECT COUNT(*) FROM plans p WHERE"
         " p.sweep_id = t.of_sweep AND p.position >= t.of_position AND p.position < t.of_position + t.models)",
         "plans have lost models"},
};

std::string WithRanges(std::string rule, const char* ranges) {
  for (std::size_t at = rule.find("RANGES"); at != rule.npos; at = rule.find("RANGES", at)) rule.replace(at, 6, ranges);
  return rule;
}

// `capture`: the document of a result's capture.
using DocumentCheck = Cause (*)(const std::string& document, const std::string& capture);

template <Cause (*kCheck)(const std::string&)>
Cause Alone(const std::string& document, const std::string&) {
  return kCheck(document);
}
Cause OfResult(const std::string& document, const std::string& capture) {
  if (!capture.empty() && CheckCapture(capture)) return std::nullopt;  // reported for the capture's own row
  return CauseOf(DecodeResult(document, capture));
}
Cause OfStep(const std::string& document, const std::string&) {
  return document.empty() ? std::nullopt : CheckSweep(document);  // the document of a result is in its own table
}

// How a table is read: at once, in pages of increasing keys, or by sweep with a row per model and mode. A driver may
// keep a whole answer in memory, and stores grow for years.
enum class Pages { kNone, kOfKeys, kOfSweeps };
constexpr std::size_t kRowsPerPage = 500;

// A column of documents. `rows` selects key, model, document and capture's document. `page` limits it to rows after the
// key :after, or to the sweep :sweep. If a page of the database is damaged, `keys` lists the keys from an index (model
// and mode for a sweep). `one` then limits `rows` to one key.
struct Documents {
  const char* table;
  Pages pages;
  const char *rows, *page, *keys, *one;
  DocumentCheck check;
};

constexpr const char* kModelsOfSweep = " AND model = :model AND mode = :mode";
constexpr std::array kDocuments{
    Documents{"sweeps", Pages::kOfKeys, "SELECT id, '', document, '' FROM sweeps", " WHERE id > :after ORDER BY id",
              "SELECT id FROM sweeps", " WHERE id = :key", Alone<CheckSweep>},
    Documents{"sweeps", Pages::kOfKeys, "SELECT id, '', plan_document, '' FROM sweeps",
              " WHERE id > :after ORDER BY id", "SELECT id FROM sweeps", " WHERE id = :key", Alone<CheckPlanHead>},
    Documents{"plans", Pages::kOfSweeps,
              "SELECT 'sweep ' || sweep_id || ', mode ' || mode, model, document, '' FROM plans",
              " WHERE sweep_id = :sweep", "SELECT model, mode FROM plans WHERE sweep_id = :sweep", kModelsOfSweep,
              Alone<CheckPlanned>},
    Documents{"captures", Pages::kOfKeys,
              "SELECT id, COALESCE((SELECT MIN(r.model) FROM results r WHERE r.capture_id = captures.id), ''),"
              " document, '' FROM captures",
              " WHERE id > :after ORDER BY id", "SELECT id FROM captures", " WHERE id = :key", Alone<CheckCapture>},
    Documents{"results", Pages::kOfSweeps,
              "SELECT 'sweep ' || sweep_id || ', mode ' || r.mode, model, r.document, COALESCE(c.document, '')"
              " FROM results r LEFT JOIN captures c ON c.id = r.capture_id",
              " WHERE sweep_id = :sweep", "SELECT model, mode FROM results WHERE sweep_id = :sweep",
              " AND model = :model AND r.mode = :mode", OfResult},
    Documents{"steps", Pages::kOfKeys,
              "SELECT CAST(seq AS TEXT), model, CASE WHEN kind = 'result' THEN '' ELSE document END, '' FROM steps",
              " WHERE seq > CAST(:after AS BIGINT) ORDER BY seq", "", "", OfStep},
    Documents{"revisions", Pages::kNone,
              "SELECT model || ' at ' || revision, model, toolchain_document, '' FROM revisions", "", "", "",
              Alone<CheckToolchain>},
    Documents{"current", Pages::kOfKeys, "SELECT model, model, document, '' FROM current",
              " WHERE model > :after ORDER BY model", "SELECT model FROM current", " WHERE model = :key",
              Alone<CheckTracked>},
    Documents{"events", Pages::kOfKeys, "SELECT CAST(id AS TEXT), model, line, '' FROM events",
              " WHERE id > CAST(:after AS BIGINT) ORDER BY id", "SELECT CAST(id AS TEXT) FROM events",
              " WHERE id = CAST(:key AS BIGINT)", Alone<CheckLine>},
    Documents{"dead_letters", Pages::kNone,
              "SELECT exporter || ' ' || CAST(event_id AS TEXT), model, line, '' FROM dead_letters", "", "", "",
              Alone<CheckLine>},
    Documents{"artifacts", Pages::kNone, "SELECT key, model, document, '' FROM artifacts", "", "", "",
              Alone<CheckRequest>},
    Documents{"artifact_stages", Pages::kNone,
              "SELECT s.stage || ' of ' || s.key, a.model, s.document, '' FROM artifact_stages s"
              " JOIN artifacts a ON a.key = s.key",
              "", "", "", Alone<CheckStage>},
};

// Error: a failure other than a damaged page. The state of the rows is then unknown.
class Search {
 public:
  explicit Search(Database& db) : db_(db) {}

  Result<void> Read(const Documents& documents) {
    if (documents.pages == Pages::kOfSweeps) return ReadSweeps(documents);
    const auto read = documents.pages == Pages::kNone ? Ask(documents, documents.rows) : ReadPages(documents);
    return read ? Result<void>() : ReadByKey(documents, read.error());
  }
  void Add(Damage damage) {
    if (found_.size() < Store::kMaxDamage && seen_.insert(Describe(damage)).second) found_.push_back(std::move(damage));
  }
  // Adds `damage` if a page could not be read.
  Result<void> AddWhere(const Result<void>& failed, Damage damage) {
    if (failed) return {};
    if (!db_.MetDamage()) return failed;
    damage.what = failed.error().message;
    Add(std::move(damage));
    return {};
  }
  std::vector<Damage> Take() { return std::move(found_); }

 private:
  using Keys = std::vector<std::pair<std::string, std::string>>;

  Result<void> ReadPages(const Documents& documents) {
    const std::string rows = std::string(documents.rows) + documents.page + " LIMIT " + std::to_string(kRowsPerPage);
    last_key_ = std::string_view(documents.page).find("CAST") == std::string_view::npos ? "" : "0";
    do {
      rows_ = 0;
      if (auto read = Ask(documents, rows, std::string(last_key_)); !read) return read;
    } while (rows_ == kRowsPerPage && found_.size() < Store::kMaxDamage);
    return {};
  }

  // Reads all rows again one by one, including those before the damaged page.
  Result<void> ReadByKey(const Documents& documents, const Error& error) {
    if (!db_.MetDamage()) return error;
    if (documents.keys[0] == '\0') return Add({documents.table, "", "", error.message}), Result<void>();
    const auto keys = ListKeys(documents, "SELECT k.*, '' FROM (" + std::string(documents.keys) + ") AS k");
    if (!keys) return keys.error();
    for (const auto& [key, none] : *keys) {
      const auto one = Ask(documents, std::string(documents.rows) + documents.one, key);
      if (auto added = AddWhere(one, {documents.table, key, "", ""}); !added) return added;
    }
    return {};
  }

  Result<void> ReadSweeps(const Documents& documents) {
    const std::string of_sweep = std::string(documents.rows) + documents.page;
    const auto sweeps = ListKeys(documents, "SELECT id, '' FROM sweeps");
    if (!sweeps) return sweeps.error();
    for (const auto& [sweep, none] : *sweeps) {
      if (const auto read = Ask(documents, of_sweep, sweep); read || !db_.MetDamage()) {
        if (!read) return read;
        continue;
      }
      const auto keys = ListKeys(documents, documents.keys, sweep);
      if (!keys) return keys.error();
      for (const auto& [model, mode] : *keys) {
        const auto one = Ask(documents, of_sweep + documents.one, sweep, model, mode);
        if (auto added = AddWhere(one, {documents.table, "sweep " + sweep + ", mode " + mode, model, ""}); !added)
          return added;
      }
    }
    return {};
  }

  template <class... Values>
  Result<Keys> ListKeys(const Documents& documents, const std::string& text, const Values&... values) {
    Keys keys;
    const auto listed = db_.Read([&](soci::session& sql) -> Result<void> {
      Query<std::string, std::string>(
          sql, text, [&](const std::string& a, const std::string& b) { return keys.emplace_back(a, b), true; },
          values...);
      return {};
    });
    if (auto added = AddWhere(listed, {documents.table, "", "", ""}); !added) return added.error();
    return keys;
  }

  template <class... Values>
  Result<void> Ask(const Documents& documents, const std::string& rows, const Values&... values) {
    return db_.Read([&](soci::session& sql) -> Result<void> {
      Query<std::string, std::string, std::string, std::string>(
          sql, rows,
          [&](const std::string& key, const std::string& model, const std::string& document,
              const std::string& capture) {
            last_key_ = key;
            ++rows_;
            if (auto cause = documents.check(document, capture)) Add({documents.table, key, model, *std::move(cause)});
            return found_.size() < Store::kMaxDamage;
          },
          values...);
      return {};
    });
  }

  Database& db_;
  std::vector<Damage> found_;
  std::set<std::string> seen_;
  std::string last_key_;
  std::size_t rows_ = 0;
};

}  // namespace

std::string Describe(const Damage& damage) {
  std::string text;
  if (!damage.table.empty()) text += "table " + damage.table;
  if (!damage.row.empty()) text += ", row " + damage.row;
  if (!damage.model.empty()) text += ", model " + damage.model;
  return ToUtf8(text + (text.empty() ? "" : ": ") + damage.what);
}

void SqlStore::Report(Damage damage) {
  const bool is_new =
      reported_.size() < kMaxDamage && reported_.insert(damage.table + " " + damage.row + " " + damage.model).second;
  if (is_new && on_damage_) on_damage_(damage);
}

Result<std::vector<Damage>> SqlStore::FindDamage() {
  Search search(db_);
  for (const Documents& documents : kDocuments) {
    if (auto read = search.Read(documents); !read) return read.error();
  }
  const auto ask = [&](const auto& body) { return search.AddWhere(db_.Read(body), {"", "", "", ""}); };
  auto asked = ask([&](soci::session& sql) -> Result<void> {
    for (std::string& problem : db_.dialect().IntegrityProblems(sql)) search.Add({"", "", "", std::move(problem)});
    return {};
  });
  if (!asked) return asked.error();
  const auto check = [&](const Rule& rule) {
    return ask([&](soci::session& sql) -> Result<void> {
      if (const Int broken = Scalar(sql, WithRanges(rule.count_broken, has_runs_ ? kRanges : kOldRanges), 0);
          broken != 0)
        search.Add({"", "", "", std::string(rule.meaning) + " (" + std::to_string(broken) + ")"});
      return {};
    });
  };
  for (const Rule& rule : kRules) {
    if (asked = check(rule); !asked) return asked.error();
  }
  for (const Rule& rule : kRunRules) {
    if (!has_runs_) break;
    if (asked = check(rule); !asked) return asked.error();
  }
  return search.Take();
}

Result<void> Store::Check() {
  const auto found = FindDamage();
  if (!found) return found.error();
  if (found->empty()) return {};
  std::string text;
  for (const Damage& damage : *found) text += (text.empty() ? "" : "; ") + Describe(damage);
  return ToError(Failure::kCorrupted, "the store", text);
}

}  // namespace breakwatch::store
