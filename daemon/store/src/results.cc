#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr const char* kSelectResults =
    "SELECT r.sweep_id, r.model, r.mode, COALESCE(r.capture_id, ''), r.document, COALESCE(c.document, '')"
    " FROM results r LEFT JOIN captures c ON c.id = r.capture_id ";
constexpr const char* kOneResult = "WHERE r.sweep_id = :sweep AND r.model = :model AND r.mode = :mode";

// Whether a sweep may have results in a mode: its modes are known when it has finished.
bool MayHave(const Sweep& sweep, const std::string& mode) {
  return mode.empty() || sweep.state != SweepState::kFinished || sweep.modes.empty() || sweep.modes.contains(mode);
}

// The toolchain names of sweeps, because a result without a capture has no toolchain.
std::map<std::string, std::string> ToolchainsBySweep(const std::vector<Sweep>& sweeps) {
  std::map<std::string, std::string> names;
  for (const Sweep& sweep : sweeps) names[sweep.id] = sweep.toolchain.name;
  return names;
}

// Why a result may not be stored; nullopt if it may.
std::optional<Error> Refused(soci::session& sql, const ModelResult& result) {
  const std::string sweep_id = ToUtf8(result.sweep_id);
  std::string state;
  Query<std::string>(
      sql, "SELECT state FROM sweeps WHERE id = :id", [&](const std::string& text) { return state = text, false; },
      sweep_id);
  if (state.empty()) return Error{ErrorCode::kNotFound, "no sweep " + sweep_id + " for a result"};
  if (state == SweepStateName(SweepState::kFinished))
    return Error{ErrorCode::kInvalid, "sweep " + sweep_id + " is finished and takes no more results"};
  if (Scalar(sql, "SELECT COUNT(*) FROM results WHERE sweep_id = :sweep AND model = :model AND mode = :mode", 0,
             sweep_id, ToUtf8(result.info.id), ToUtf8(result.capture.mode)) > 0)
    return Error{ErrorCode::kInvalid, "sweep " + sweep_id + " has a result of " + ToUtf8(result.info.id) + " (" +
                                          result.capture.mode + ") already"};
  return std::nullopt;
}

void WriteRevision(soci::session& sql, const ModelResult& result, Int seq) {
  // Only a captured model counts as known: one that was only planned is still new.
  if (result.info.sha.empty() || result.structure.empty() || result.capture_id.empty()) return;
  Exec(sql,
       "INSERT INTO revisions (model, revision, structure, toolchain, toolchain_document, first_seen_ns, last_seq)"
       " VALUES (:model, :revision, :structure, :toolchain, :document, :seen, :seq)"
       " ON CONFLICT (model, revision, structure, toolchain) DO UPDATE SET last_seq = excluded.last_seq,"
       " toolchain_document = excluded.toolchain_document",
       ToUtf8(result.info.id), ToUtf8(result.info.sha), ToUtf8(result.structure),
       ToUtf8(result.capture.toolchain.Key()), ToJson(result.capture.toolchain), Nanoseconds(result.finished_at), seq);
}

}  // namespace

std::optional<ModelResult> SqlStore::DecodeOrReport(const std::string& sweep, const std::string& model,
                                                    const std::string& mode, const std::string& capture_id,
                                                    const std::string& document, const std::string& capture,
                                                    const CaptureResult* known) {
  auto result = DecodeResult(document, capture, known);
  if (result) return std::move(*result);
  if (!capture_id.empty() && !CaptureResultFromJson(capture)) {
    Report({"captures", capture_id, model, result.error().message});
  } else {
    Report({"results", "sweep " + sweep + ", mode " + mode, model, result.error().message});
  }
  return std::nullopt;
}

template <class... Values>
std::vector<ModelResult> SqlStore::ReadResults(soci::session& sql, const std::string& rest, const Values&... values) {
  std::vector<ModelResult> results;
  Query<std::string, std::string, std::string, std::string, std::string, std::string>(
      sql, kSelectResults + rest,
      [&](const std::string& sweep, const std::string& model, const std::string& mode, const std::string& capture_id,
          const std::string& document, const std::string& capture) {
        auto result = DecodeOrReport(sweep, model, mode, capture_id, document, capture);
        if (result) results.push_back(std::move(*result));
        return true;
      },
      values...);
  return results;
}

Result<std::vector<ModelResult>> SqlStore::ReadByKey(const std::vector<ResultKey>& keys) {
  std::vector<ModelResult> results;
  for (const ResultKey& key : keys) {
    auto one = ReadPast({"results", "sweep " + key.sweep_id + ", mode " + key.mode, key.model, ""},
                        [&](soci::session& sql) -> Result<void> {
                          auto found = ReadResults(sql, kOneResult, key.sweep_id, key.model, key.mode);
                          std::move(found.begin(), found.end(), std::back_inserter(results));
                          return {};
                        });
    if (!one) return one.error();
  }
  return results;
}

Result<void> SqlStore::AppendResults(std::span<const ResultWrite> writes) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    for (const ResultWrite& write : writes) {
      if (auto written = WriteResult(sql, write.result, write.events, write.change); !written) return written;
    }
    return {};
  });
}

Result<void> SqlStore::WriteResult(soci::session& sql, const ModelResult& result, std::span<const Event> events,
                                   const CurrentChange& change) {
  if (auto refused = Refused(sql, result)) return *refused;
  const std::string model = ToUtf8(result.info.id), mode = ToUtf8(result.capture.mode);
  const std::string sweep_id = ToUtf8(result.sweep_id), structure = ToUtf8(result.structure);
  const Int seq = WriteStep(sql, HistoryStep::Kind::kResult, sweep_id, model, mode, "");
  if (!structure.empty())
    Exec(sql,
         "INSERT INTO structures (digest, first_seen_ns, first_model) VALUES (:digest, :seen, :model)"
         " ON CONFLICT (digest) DO NOTHING",
         structure, Nanoseconds(result.finished_at), model);
  const auto capture = WriteCapture(sql, result, seq);
  if (!capture) return capture.error();
  const auto document = EncodeResult(result, *capture);
  if (!document) return document.error();
  Exec(sql,
       "INSERT INTO results (sweep_id, model, mode, seq, revision, structure, capture_id, status, finished_ns,"
       " document) VALUES (:sweep, :model, :mode, :seq, :revision, :structure, NULLIF(:capture, ''), :status,"
       " :finished, :document)",
       sweep_id, model, mode, seq, ToUtf8(result.info.sha), structure, ToUtf8(result.capture_id),
       std::string(StatusName(result.capture.status)), Nanoseconds(result.finished_at), *document);
  WriteRevision(sql, result, seq);
  WriteEvents(sql, events);
  WriteChange(sql, change);
  return {};
}

Result<std::vector<ModelResult>> SqlStore::Results(const std::string& sweep_id) {
  std::vector<ModelResult> results;
  auto read = EachResult(sweep_id, [&](ModelResult result) -> Result<void> {
    results.push_back(std::move(result));
    return {};
  });
  if (!read) return read.error();
  return results;
}

namespace {

// The columns of a result's row, without its documents.
struct ResultHead {
  ResultKey key;
  std::string revision;
  Int seq = 0;
};

// The newest of each (model, mode, toolchain name) that match `filter`. `heads`: ordered by model, then newest first.
std::vector<ResultKey> NewestOf(const std::vector<ResultHead>& heads, const ResultFilter& filter,
                                const std::map<std::string, std::string>& toolchains) {
  std::vector<ResultKey> keys;
  std::set<std::tuple<std::string, std::string, std::string, std::string>> seen;
  for (const auto& [key, revision, seq] : heads) {
    const auto toolchain = toolchains.find(key.sweep_id);
    const std::string name = toolchain == toolchains.end() ? "" : toolchain->second;
    const bool wanted = (filter.mode.empty() || filter.mode == key.mode) &&
                        (filter.toolchain.empty() || filter.toolchain == name) && revision.starts_with(filter.revision);
    if (wanted && seen.emplace(key.model, key.mode, name, filter.each_commit ? revision : "").second)
      keys.push_back(key);
  }
  return keys;
}

}  // namespace

Result<std::vector<ResultKey>> SqlStore::NewestKeys(const ResultFilter& filter,
                                                    const std::map<std::string, std::string>& toolchains) {
  std::vector<ResultHead> heads;
  const auto read = [&](soci::session& sql, const std::string& rest, const auto&... values) {
    Query<std::string, std::string, std::string, std::string, Int>(
        sql, "SELECT sweep_id, model, mode, revision, seq FROM results" + rest,
        [&](const std::string& sweep, const std::string& model, const std::string& mode, const std::string& revision,
            Int seq) {
          return heads.push_back({{sweep, model, mode}, revision, seq}), true;
        },
        values...);
  };
  const std::string model = ToUtf8(filter.model);
  auto all = db_.Read([&](soci::session& sql) -> Result<void> {
    model.empty() ? read(sql, " ORDER BY model, seq DESC")
                  : read(sql, " WHERE model = :model ORDER BY seq DESC", model);
    return {};
  });
  if (all) return NewestOf(heads, filter, toolchains);
  if (!db_.MetDamage()) return all.error();
  // Reads one at a time: the keys come from an index.
  heads.clear();
  std::vector<ResultKey> keys;
  all = db_.Read([&](soci::session& sql) -> Result<void> {
    Query<std::string, std::string, std::string>(
        sql, "SELECT sweep_id, model, mode FROM results",
        [&](const std::string& sweep, const std::string& of, const std::string& mode) {
          if (model.empty() || of == model) keys.push_back({sweep, of, mode});
          return true;
        });
    return {};
  });
  if (!all) return all.error();
  for (const ResultKey& key : keys) {
    auto one = ReadPast({"results", "sweep " + key.sweep_id + ", mode " + key.mode, key.model, ""},
                        [&](soci::session& sql) -> Result<void> {
                          read(sql, " WHERE sweep_id = :sweep AND model = :model AND mode = :mode", key.sweep_id,
                               key.model, key.mode);
                          return {};
                        });
    if (!one) return one.error();
  }
  std::sort(heads.begin(), heads.end(), [](const ResultHead& a, const ResultHead& b) {
    return std::tie(a.key.model, b.seq) < std::tie(b.key.model, a.seq);
  });
  return NewestOf(heads, filter, toolchains);
}

Result<std::vector<ModelResult>> SqlStore::NewestResults(const ResultFilter& filter) {
  const auto sweeps = Sweeps(std::numeric_limits<int>::max());
  if (!sweeps) return sweeps.error();
  // Most stores have no result in most modes, and looking for them reads every row.
  const bool any = std::any_of(sweeps->begin(), sweeps->end(), [&](const Sweep& s) { return MayHave(s, filter.mode); });
  if (!any) return std::vector<ModelResult>();
  const auto toolchains = ToolchainsBySweep(*sweeps);
  const auto keys = NewestKeys(filter, toolchains);
  if (!keys) return keys.error();
  auto results = db_.Read([&](soci::session& sql) -> Result<std::vector<ModelResult>> {
    std::vector<ModelResult> read;
    for (const ResultKey& key : *keys) {
      auto found = ReadResults(sql, kOneResult, key.sweep_id, key.model, key.mode);
      std::move(found.begin(), found.end(), std::back_inserter(read));
    }
    return read;
  });
  if (!results && db_.MetDamage()) results = ReadByKey(*keys);
  if (!results) return results;
  for (ModelResult& result : *results) {
    // A result without a capture still belongs to this toolchain.
    const auto name = toolchains.find(result.sweep_id);
    if (result.capture.toolchain.torch.empty() && name != toolchains.end())
      result.capture.toolchain.name = name->second;
  }
  return results;
}

Result<std::vector<std::string>> SqlStore::Models() {
  return db_.Read([&](soci::session& sql) -> Result<std::vector<std::string>> {
    std::vector<std::string> models;
    Query<std::string>(sql, "SELECT DISTINCT model FROM results ORDER BY model",
                       [&](const std::string& model) { return models.push_back(model), true; });
    return models;
  });
}

}  // namespace breakwatch::store
