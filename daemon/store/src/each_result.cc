// The results of a sweep one at a time, in plan order. They are read page by page: a page is one query, which begins at
// its place in the index of the plan, so that no row is sorted and no transaction lasts while the caller works.
#include <limits>
#include <set>
#include <utility>

#include "breakwatch/core/text.h"
#include "documents.h"
#include "runs.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr std::size_t kPageRows = 500;
constexpr std::size_t kPageBytes = 4u << 20;

const std::string kColumns = "r.model, r.mode, r.seq, t.at_ns, COALESCE(r.capture_id, ''), r.document";
// Bound: the sweep, BeforeRun(position), the next position, the position.
const std::string kAfter =
    std::string(" AND t.sweep_id = :id AND t.position > :low AND t.position + t.models > :from AND ") +
    kResultPosition + " > :after ORDER BY t.position, r.seq LIMIT " + std::to_string(kPageRows);

// In a store of an older version, CROSS JOIN keeps the order of the tables in SQLite, so the index of the plan gives
// the order of the rows.
const std::string kOldColumns = "r.model, r.mode, 0, 0, COALESCE(r.capture_id, ''), r.document";
const std::string kOfPlan =
    " WHERE p.sweep_id = :id AND p.position > :low AND p.position >= :from AND p.position > :after AND r.sweep_id = "
    "p.sweep_id"
    " AND r.model = p.model AND r.mode = p.mode ORDER BY p.position LIMIT " +
    std::to_string(kPageRows);

std::string ResultsQuery(bool has_runs) {
  if (has_runs)
    return std::string("SELECT ") + kResultPosition + ", " + kColumns + ", COALESCE(c.document, '')" + kResultsOfRuns +
           kAfter;
  return "SELECT p.position, " + kOldColumns + ", COALESCE(c.document, '') FROM plans p CROSS JOIN results r" +
         kWithCaptures + kOfPlan;
}
std::string OutcomesQuery(bool has_runs) {
  if (has_runs) return std::string("SELECT ") + kResultPosition + ", " + kColumns + ", r.status" + kRowsOfRuns + kAfter;
  return "SELECT p.position, " + kOldColumns + ", r.status FROM plans p CROSS JOIN results r" + kOfPlan;
}

void TakeSites(const std::vector<SitePlace>& places, CaptureResult& capture) {
  for (const SitePlace& place : places) {
    BreakSite& site = capture.sites.emplace_back();
    site.site_id = place.site_id, site.reason = place.reason, site.gb_id = place.gb_id;
    site.fixability = place.fixability, site.file = place.file, site.line = place.line;
    site.function = place.function, site.occurrences = place.occurrences;
  }
}

}  // namespace

// A page; `last` is the position of its last row, even if that one is damaged.
struct SqlStore::ResultPart {
  std::vector<ModelResult> results;
  std::vector<bool> are_stored;  // as UseCompared; empty: not known
  std::optional<Int> last;
};

Result<void> SweepStore::EachResult(const std::string& sweep_id, const UseResult& use) {
  auto results = Results(sweep_id);
  if (!results) return results.error();
  for (ModelResult& result : *results) {
    if (auto used = use(std::move(result)); !used) return used;
  }
  return {};
}

Result<void> SweepStore::EachCompared(const std::string& sweep_id, const KnownCapture&, const UseCompared& use) {
  return EachResult(sweep_id, [&](ModelResult result) { return use(std::move(result), /*is_stored=*/false); });
}

Result<void> SweepStore::EachOutcome(const std::string& sweep_id, const UseResult& use) {
  return EachResult(sweep_id, use);
}

Result<SqlStore::ResultPart> SqlStore::ReadResultPart(const std::string& id, std::int64_t after,
                                                      const KnownCapture& known) {
  return db_.Read([&](soci::session& sql) -> Result<ResultPart> {
    ResultPart part;
    std::size_t bytes = 0;
    Query<Int, std::string, std::string, Int, Int, std::string, std::string, std::string>(
        sql, ResultsQuery(has_runs_),
        [&](Int position, const std::string& model, const std::string& mode, Int row, Int at_ns,
            const std::string& capture_id, const std::string& document, const std::string& capture) {
          part.last = position;
          bytes += document.size() + capture.size();
          const CaptureResult* had = known && !capture_id.empty() ? known(capture_id) : nullptr;
          auto result = DecodeOrReport({id, model, mode, row, at_ns}, capture_id, document, capture, had);
          if (result) {
            part.results.push_back(std::move(*result));
            part.are_stored.push_back(!capture_id.empty() && !HasOwnCapture(document));
          }
          return bytes < kPageBytes;
        },
        id, Int{BeforeRun(after)}, Int{after} + 1, Int{after});
    return part;
  });
}

Result<SqlStore::ResultPart> SqlStore::ReadOutcomePart(const std::string& id, std::int64_t after) {
  std::vector<std::string> captures;
  std::vector<std::pair<std::size_t, ResultKey>> own;  // those with a capture of their own
  auto part = db_.Read([&](soci::session& sql) -> Result<ResultPart> {
    ResultPart read;
    captures.clear(), own.clear();
    Query<Int, std::string, std::string, Int, Int, std::string, std::string, std::string>(
        sql, OutcomesQuery(has_runs_),
        [&](Int position, const std::string& model, const std::string& mode, Int row, Int at_ns,
            const std::string& capture_id, const std::string& document, const std::string& status) {
          read.last = position;
          const ResultOutline outline = OutlineOf(document);
          ModelResult result;
          result.sweep_id = id, result.info.id = model, result.info.family = outline.family;
          result.info.sha = outline.revision, result.info.downloads = outline.downloads;
          result.capture_id = capture_id, result.capture.mode = mode;
          result.capture.status = ParseStatus(status).value_or(Status::kNotAttempted);
          if (outline.has_own_capture && HasNumbers(result.capture.status))
            own.push_back({read.results.size(), {id, model, mode, row, at_ns}});
          else if (!capture_id.empty())
            captures.push_back(capture_id);
          read.results.push_back(std::move(result));
          return true;
        },
        id, Int{BeforeRun(after)}, Int{after} + 1, Int{after});
    return read;
  });
  if (!part) return part;
  const auto sites = SitesOf(captures);
  if (!sites) return sites.error();
  for (ModelResult& result : part->results) {
    const auto found = sites->find(result.capture_id);
    if (found != sites->end()) TakeSites(found->second, result.capture);
  }
  for (const auto& [place, key] : own) {
    auto whole = ReadByKey({key});
    if (!whole) return whole.error();
    if (!whole->empty()) part->results[place] = std::move(whole->front());
  }
  return part;
}

namespace {

UseCompared IgnoringOrigin(const UseResult& use) {
  return [&use](ModelResult result, bool) { return use(std::move(result)); };
}

}  // namespace

Result<void> SqlStore::EachResult(const std::string& sweep_id, const UseResult& use) {
  return EachCompared(sweep_id, nullptr, IgnoringOrigin(use));
}

Result<void> SqlStore::EachCompared(const std::string& sweep_id, const KnownCapture& known, const UseCompared& use) {
  return EachPart(sweep_id, use, [&](const std::string& id, Int after) { return ReadResultPart(id, after, known); });
}

Result<void> SqlStore::EachOutcome(const std::string& sweep_id, const UseResult& use) {
  return EachPart(sweep_id, IgnoringOrigin(use),
                  [this](const std::string& id, Int after) { return ReadOutcomePart(id, after); });
}

template <class ReadPart>
Result<void> SqlStore::EachPart(const std::string& sweep_id, const UseCompared& use, const ReadPart& read_part) {
  const std::string id = ToUtf8(sweep_id);
  const auto known = db_.Read([&](soci::session& sql) -> Result<Int> {
    return Scalar(sql, "SELECT COUNT(*) FROM sweeps WHERE id = :id", 0, id);
  });
  if (!known && !db_.MetDamage()) return known.error();
  if (known && *known == 0) return Error{ErrorCode::kNotFound, "no sweep " + id + " in " + db_.name()};
  for (Int after = -1;;) {
    auto part = read_part(id, after);
    if (!part) return db_.MetDamage() ? EachPastDamage(id, after, use) : Result<void>(part.error());
    for (std::size_t i = 0; i < part->results.size(); ++i) {
      const bool is_stored = i < part->are_stored.size() && part->are_stored[i];
      if (auto used = use(std::move(part->results[i]), is_stored); !used) return used;
    }
    if (!part->last) return has_runs_ ? Result<void>() : EachUnplanned(id, use);
    after = *part->last;
  }
}

Result<void> SqlStore::EachOf(const std::vector<ResultKey>& keys, const UseCompared& use) {
  for (const ResultKey& key : keys) {
    auto one = ReadByKey({key});
    if (!one) return one.error();
    for (ModelResult& result : *one) {
      if (auto used = use(std::move(result), /*is_stored=*/false); !used) return used;
    }
  }
  return {};
}

// Those whose row of the plan is missing, as `store repair` may leave them, in a store of an older version.
Result<void> SqlStore::EachUnplanned(const std::string& id, const UseCompared& use) {
  std::vector<ResultKey> keys;
  const auto listed = db_.Read([&](soci::session& sql) -> Result<void> {
    keys.clear();
    Query<std::string, std::string>(
        sql,
        "SELECT r.model, r.mode FROM results r LEFT JOIN plans p ON p.sweep_id = r.sweep_id AND p.model = r.model"
        " AND p.mode = r.mode WHERE r.sweep_id = :id AND p.sweep_id IS NULL ORDER BY r.seq",
        [&](const std::string& model, const std::string& mode) {
          return keys.push_back({id, model, mode}), true;
        },
        id);
    return {};
  });
  if (!listed) return db_.MetDamage() ? EachPastDamage(id, std::numeric_limits<Int>::max(), use) : listed;
  return EachOf(keys, use);
}

// The rest one at a time, after a damaged page. The keys come from indexes.
Result<void> SqlStore::EachPastDamage(const std::string& id, std::int64_t after, const UseCompared& use) {
  std::set<std::pair<std::string, std::string>> used;
  std::vector<ResultKey> keys;
  const auto of_runs = [&](soci::session& sql) {
    Query<Int, Int>(
        sql,
        std::string("SELECT r.seq, t.at_ns") + kRowsOfRuns + " AND t.sweep_id = :id AND " + kResultPosition +
            " > :after ORDER BY t.position, r.seq",
        [&](Int row, Int at_ns) {
          return keys.push_back({id, "", "", row, at_ns}), true;
        },
        id, Int{after});
  };
  const auto of_names = [&](soci::session& sql) {
    if (after >= 0) {
      Query<std::string, std::string>(
          sql, "SELECT model, mode FROM plans WHERE sweep_id = :id AND position <= :after",
          [&](const std::string& model, const std::string& mode) { return used.emplace(model, mode), true; }, id,
          Int{after});
    }
    Query<std::string, std::string>(
        sql, "SELECT model, mode FROM results WHERE sweep_id = :sweep ORDER BY model, mode",
        [&](const std::string& model, const std::string& mode) {
          if (!used.contains({model, mode})) keys.push_back({id, model, mode});
          return true;
        },
        id);
  };
  const auto listed = ReadPast({"results", "sweep " + id, "", ""}, [&](soci::session& sql) -> Result<void> {
    used.clear(), keys.clear();
    has_runs_ ? of_runs(sql) : of_names(sql);
    return {};
  });
  if (!listed) return listed.error();
  if (auto named = NameRows(keys); !named) return named;
  return EachOf(keys, use);
}

// Finds the models of rows in an index that has no more than them, to report those that are lost.
Result<void> SqlStore::NameRows(std::vector<ResultKey>& keys) {
  std::map<Int, std::string> models;
  for (const ResultKey& key : keys) {
    if (key.row != 0) models[key.row];
  }
  if (models.empty()) return {};
  const auto read = db_.Read([&](soci::session& sql) -> Result<void> {
    Query<std::string, Int>(sql, "SELECT model, seq FROM results WHERE model > ''",
                            [&](const std::string& model, Int row) {
                              if (const auto found = models.find(row); found != models.end()) found->second = model;
                              return true;
                            });
    return {};
  });
  if (!read && !db_.MetDamage()) return read;
  for (ResultKey& key : keys) {
    if (key.row != 0) key.model = models[key.row];
  }
  return {};
}

}  // namespace breakwatch::store
