#include <algorithm>

#include "batch.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr std::size_t kNamesPerQuery = 500;
constexpr std::size_t kCapturesKnown = 1024;

// Calls `run(json array)` for groups of names.
template <class Run>
void InChunks(std::span<const std::string> names, const Run& run) {
  for (; !names.empty(); names = names.subspan(std::min(kNamesPerQuery, names.size()))) {
    const auto chunk = names.first(std::min(kNamesPerQuery, names.size()));
    run(TextArray({chunk.begin(), chunk.end()}));
  }
}

// Combines captures, newest first, into the history that decides reuse, retry and quarantine.
class HistoryFold {
 public:
  explicit HistoryFold(CaptureHistory& history) : history_(history) {}

  void Add(const std::string& id, Status status, const std::string& worker, SystemTime finished) {
    if (newest_) history_.last_worker = worker, history_.last_status = status;
    if (!history_.reusable_capture_id && IsReusable(status))
      history_.reusable_capture_id = id, history_.reusable_status = status;
    unbroken_ = unbroken_ && CountsTowardsQuarantine(status);
    if (unbroken_ && history_.failures_in_a_row++ == 0) history_.last_failure_at = finished;
    newest_ = false;
  }

 private:
  CaptureHistory& history_;
  bool newest_ = true, unbroken_ = true;
};

}  // namespace

Result<std::string> SqlStore::WriteCapture(soci::session& sql, const ModelResult& result, std::int64_t seq) {
  if (result.capture_id.empty()) return std::string();
  const std::string id = ToUtf8(result.capture_id);
  std::string document;
  Query<std::string>(
      sql, "SELECT document FROM captures WHERE id = :id",
      [&](const std::string& text) { return document = text, false; }, id);
  if (!document.empty()) return document;
  const CaptureResult& capture = result.capture;
  auto encoded = EncodeCapture(result);
  if (!encoded) return encoded;
  document = std::move(*encoded);
  Exec(sql,
       "INSERT INTO captures (id, seq, structure, toolchain, worker, mode, status, started_ns, finished_ns, document)"
       " VALUES (:id, :seq, :structure, :toolchain, :worker, :mode, :status, :started, :finished, :document)",
       id, Int{seq}, ToUtf8(result.structure), ToUtf8(capture.toolchain.Key()), ToUtf8(capture.toolchain.worker),
       ToUtf8(capture.mode), std::string(StatusName(capture.status)), Nanoseconds(capture.started_at),
       Nanoseconds(result.finished_at), document);
  WriteSites(sql, id, capture.sites);
  WriteCosts(sql, result, seq);
  return document;
}

void SqlStore::WriteCosts(soci::session& sql, const ModelResult& result, std::int64_t seq) {
  const CaptureResult& capture = result.capture;
  if (capture.wall_s <= 0 || capture.status == Status::kWorkerLost) return;
  const ModelInfo& info = result.info;
  const std::pair<CostOf, std::string> names[] = {
      {CostOf::kStructure, result.structure},
      {CostOf::kClass, info.architectures.empty() ? capture.architecture : info.architectures.front()},
      {CostOf::kModelType, info.model_type.empty() ? capture.model_type : info.model_type}};
  for (const auto& [kind, name] : names) {
    if (name.empty()) continue;
    Exec(sql,
         "INSERT INTO costs (kind, name, mode, seq, wall_ms, rss_mib) VALUES (:kind, :name, :mode, :seq, :wall, :rss)"
         " ON CONFLICT (kind, name, mode) DO UPDATE SET seq = excluded.seq, wall_ms = excluded.wall_ms,"
         " rss_mib = excluded.rss_mib",
         Int{static_cast<int>(kind)}, ToUtf8(name), ToUtf8(capture.mode), Int{seq},
         static_cast<Int>(capture.wall_s * 1000.0), static_cast<Int>(capture.peak_rss_mb));
  }
}

Result<std::map<std::string, CaptureCost>> SqlStore::Costs(CostOf kind, std::span<const std::string> names,
                                                           const std::string& mode) {
  return db_.Read([&](soci::session& sql) -> Result<std::map<std::string, CaptureCost>> {
    std::map<std::string, CaptureCost> costs;
    InChunks(names, [&](const std::string& chunk) {
      Query<std::string, Int, Int>(
          sql,
          "SELECT name, wall_ms, rss_mib FROM costs WHERE kind = :kind AND mode = :mode AND name IN"
          " (SELECT rows.value->>'v' FROM " +
              db_.dialect().JsonRows() + ")",
          [&](const std::string& name, Int wall_ms, Int rss_mib) {
            costs[name] = {static_cast<double>(wall_ms) / 1000.0, static_cast<double>(rss_mib)};
            return true;
          },
          Int{static_cast<int>(kind)}, ToUtf8(mode), chunk);
    });
    return costs;
  });
}

void SqlStore::WriteSites(soci::session& sql, const std::string& capture_id, const std::vector<BreakSite>& sites) {
  Batch rows(sql, db_.dialect(), "sites",
             {{"capture_id"},
              {"position", true},
              {"site_id"},
              {"gb_id"},
              {"reason"},
              {"fixability"},
              {"file"},
              {"line", true},
              {"function"},
              {"occurrences", true}});
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const BreakSite& site = sites[i];
    rows.Add({capture_id, i, site.site_id, site.gb_id, site.reason, site.fixability, site.file, site.line,
              site.function, site.occurrences});
  }
  rows.Flush();
}

// Reads one at a time if a page is damaged: the keys come from an index.
Result<std::map<std::string, CaptureHistory>> SqlStore::Histories(std::span<const std::string> structures,
                                                                  const std::string& mode) {
  std::map<std::string, CaptureHistory> histories;
  std::map<std::string, HistoryFold> folds;
  const auto add = [&](const std::string& structure, const std::string& id, const std::string& status,
                       const std::string& worker, Int finished) {
    auto& fold = folds.try_emplace(structure, histories[structure]).first->second;
    fold.Add(id, ParseStatus(status).value_or(Status::kNotAttempted), worker, FromNanoseconds(finished));
    return true;
  };
  const std::string of_structures =
      " FROM captures WHERE mode = :mode AND structure IN (SELECT rows.value->>'v' FROM " + db_.dialect().JsonRows() +
      ") ORDER BY seq DESC";
  auto all = db_.Read([&](soci::session& sql) -> Result<void> {
    InChunks(structures, [&](const std::string& names) {
      Query<std::string, std::string, std::string, std::string, Int>(
          sql, "SELECT structure, id, status, worker, finished_ns" + of_structures, add, ToUtf8(mode), names);
    });
    return {};
  });
  if (all) return histories;
  if (!db_.MetDamage()) return all.error();
  folds.clear(), histories.clear();
  std::vector<std::pair<std::string, Int>> keys;
  all = db_.Read([&](soci::session& sql) -> Result<void> {
    InChunks(structures, [&](const std::string& names) {
      Query<std::string, Int>(
          sql, "SELECT structure, seq" + of_structures,
          [&](const std::string& structure, Int seq) { return keys.emplace_back(structure, seq), true; }, ToUtf8(mode),
          names);
    });
    return {};
  });
  if (!all) return all.error();
  for (const auto& key : keys) {
    const std::string& structure = key.first;
    const Int seq = key.second;
    auto one = ReadPast({"captures", "step " + std::to_string(seq), "", ""}, [&](soci::session& sql) -> Result<void> {
      Query<std::string, std::string, std::string, std::string, Int>(
          sql,
          "SELECT structure, id, status, worker, finished_ns FROM captures"
          " WHERE structure = :structure AND mode = :mode AND seq = :seq",
          add, structure, ToUtf8(mode), seq);
      return {};
    });
    if (!one) return one.error();
  }
  return histories;
}

Result<std::map<std::string, RevisionRecord>> SqlStore::LatestRevisions(std::span<const std::string> models) {
  std::map<std::string, RevisionRecord> revisions;
  const auto add = [&](const std::string& model, const std::string& revision, const std::string& structure,
                       const std::string& document) {
    if (revisions.contains(model)) return true;
    if (auto toolchain = ToolchainFromJson(document))
      revisions[model] = {revision, structure, std::move(*toolchain)};
    else
      Report({"revisions", model + " at " + revision, model, toolchain.error().message});
    return true;
  };
  const std::string of_models = " FROM revisions WHERE model IN (SELECT rows.value->>'v' FROM " +
                                db_.dialect().JsonRows() + ") ORDER BY last_seq DESC";
  auto all = db_.Read([&](soci::session& sql) -> Result<void> {
    InChunks(models, [&](const std::string& names) {
      Query<std::string, std::string, std::string, std::string>(
          sql, "SELECT model, revision, structure, toolchain_document" + of_models, add, names);
    });
    return {};
  });
  if (all) return revisions;
  if (!db_.MetDamage()) return all.error();
  revisions.clear();
  std::vector<std::pair<std::string, Int>> keys;
  all = db_.Read([&](soci::session& sql) -> Result<void> {
    InChunks(models, [&](const std::string& names) {
      Query<std::string, Int>(
          sql, "SELECT model, last_seq" + of_models,
          [&](const std::string& model, Int seq) { return keys.emplace_back(model, seq), true; }, names);
    });
    return {};
  });
  if (!all) return all.error();
  for (const auto& key : keys) {
    const std::string& model = key.first;
    const Int seq = key.second;
    if (revisions.contains(model)) continue;
    auto one =
        ReadPast({"revisions", "step " + std::to_string(seq), model, ""}, [&](soci::session& sql) -> Result<void> {
          Query<std::string, std::string, std::string, std::string>(
              sql,
              "SELECT model, revision, structure, toolchain_document FROM revisions"
              " WHERE model = :model AND last_seq = :seq",
              add, model, seq);
          return {};
        });
    if (!one) return one.error();
  }
  return revisions;
}

Result<std::map<std::string, std::vector<SitePlace>>> SqlStore::SitesOf(std::span<const std::string> captures) {
  return db_.Read([&](soci::session& sql) -> Result<std::map<std::string, std::vector<SitePlace>>> {
    std::map<std::string, std::vector<SitePlace>> sites;
    InChunks(captures, [&](const std::string& chunk) {
      Query<std::string, std::string, std::string, std::string, std::string, std::string, Int, std::string, Int>(
          sql,
          "SELECT capture_id, site_id, reason, gb_id, fixability, file, line, function, occurrences FROM sites"
          " WHERE capture_id IN (SELECT rows.value->>'v' FROM " +
              db_.dialect().JsonRows() + ") ORDER BY capture_id, position",
          [&](const std::string& capture, const std::string& site, const std::string& reason, const std::string& gb_id,
              const std::string& fixability, const std::string& file, Int line, const std::string& function,
              Int occurrences) {
            sites[capture].push_back(
                {site, reason, gb_id, fixability, file, function, static_cast<int>(line), occurrences});
            return true;
          },
          chunk);
    });
    return sites;
  });
}

Result<CaptureResult> SqlStore::LoadCapture(const std::string& capture_id) {
  std::optional<std::string> document;
  auto read = ReadPast({"captures", capture_id, "", ""}, [&](soci::session& sql) -> Result<void> {
    Query<std::string>(
        sql, "SELECT document FROM captures WHERE id = :id",
        [&](const std::string& text) { return document = text, false; }, ToUtf8(capture_id));
    return {};
  });
  if (!read) return read.error();
  // A damaged capture counts as missing: it is captured again.
  const Error damaged{ErrorCode::kNotFound, "capture " + capture_id + " in " + db_.name() + " is damaged"};
  if (!*read) return damaged;
  if (!document) return Error{ErrorCode::kNotFound, "no capture " + capture_id + " in " + db_.name()};
  auto capture = CaptureResultFromJson(*document);
  if (capture) {
    if (captures_.size() >= kCapturesKnown) captures_.clear();
    captures_[ToUtf8(capture_id)] = *capture;
    return capture;
  }
  Report({"captures", capture_id, "", capture.error().message});
  return damaged;
}

}  // namespace breakwatch::store
