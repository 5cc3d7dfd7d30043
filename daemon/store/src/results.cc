#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "runs.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

const std::string kColumns = "r.model, r.mode, COALESCE(r.capture_id, ''), r.document, COALESCE(c.document, '')";
const std::string kOneRow =
    "SELECT " + kColumns + " FROM results r LEFT JOIN captures c ON c.id = r.capture_id WHERE r.seq = :row";
const std::string kOneResult = "SELECT " + kColumns +
                               " FROM results r LEFT JOIN captures c ON c.id = r.capture_id"
                               " WHERE r.sweep_id = :sweep AND r.model = :model AND r.mode = :mode";

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

}  // namespace

std::optional<ModelResult> SqlStore::DecodeOrReport(const ResultKey& key, const std::string& capture_id,
                                                    const std::string& document, const std::string& capture,
                                                    const CaptureResult* known) {
  auto result = DecodeResult(document, capture, known);
  if (result) {
    result->sweep_id = key.sweep_id;
    if (key.at_ns != 0) result->finished_at = FromNanoseconds(key.at_ns);
    return std::move(*result);
  }
  if (!capture_id.empty() && !CaptureResultFromJson(capture)) {
    Report({"captures", capture_id, key.model, result.error().message});
  } else {
    Report({"results", "sweep " + key.sweep_id + ", mode " + key.mode, key.model, result.error().message});
  }
  return std::nullopt;
}

void SqlStore::ReadResult(soci::session& sql, const ResultKey& key, std::vector<ModelResult>& results) {
  const auto read = [&](const std::string& query, const auto&... values) {
    Query<std::string, std::string, std::string, std::string, std::string>(
        sql, query,
        [&](const std::string& model, const std::string& mode, const std::string& capture_id,
            const std::string& document, const std::string& capture) {
          auto result = DecodeOrReport({key.sweep_id, model, mode, key.row, key.at_ns}, capture_id, document, capture);
          if (result) results.push_back(std::move(*result));
          return true;
        },
        values...);
  };
  key.row != 0 ? read(kOneRow, Int{key.row}) : read(kOneResult, key.sweep_id, key.model, key.mode);
}

Result<std::vector<ModelResult>> SqlStore::ReadByKey(const std::vector<ResultKey>& keys) {
  std::vector<ModelResult> results;
  for (const ResultKey& key : keys) {
    auto one = ReadPast({"results", "sweep " + key.sweep_id + ", mode " + key.mode, key.model, ""},
                        [&](soci::session& sql) -> Result<void> {
                          ReadResult(sql, key, results);
                          return {};
                        });
    if (!one) return one.error();
  }
  return results;
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

// The columns of a result, without its documents.
struct ResultHead {
  ResultKey key;
  std::string revision;
  Int seq = 0;
};

// Takes results from the newest to the oldest and keeps the newest of each (model, mode, toolchain name) that matches.
class NewestHeads {
 public:
  NewestHeads(const ResultFilter& filter, const std::map<std::string, std::string>& toolchains)
      : filter_(filter), toolchains_(toolchains) {}

  void Add(ResultHead head) {
    const auto toolchain = toolchains_.find(head.key.sweep_id);
    const std::string name = toolchain == toolchains_.end() ? "" : toolchain->second;
    const bool wanted = (filter_.model.empty() || ToUtf8(filter_.model) == head.key.model) &&
                        (filter_.mode.empty() || filter_.mode == head.key.mode) &&
                        (filter_.toolchain.empty() || filter_.toolchain == name) &&
                        head.revision.starts_with(filter_.revision);
    if (wanted && seen_.emplace(head.key.model, head.key.mode, name, filter_.each_commit ? head.revision : "").second)
      heads_.push_back(std::move(head));
  }

  // By model, then newest first.
  std::vector<ResultKey> Keys() && {
    std::stable_sort(heads_.begin(), heads_.end(),
                     [](const ResultHead& a, const ResultHead& b) { return a.key.model < b.key.model; });
    std::vector<ResultKey> keys;
    for (ResultHead& head : heads_) keys.push_back(std::move(head.key));
    return keys;
  }

 private:
  const ResultFilter& filter_;
  const std::map<std::string, std::string>& toolchains_;
  std::set<std::tuple<std::string, std::string, std::string, std::string>> seen_;
  std::vector<ResultHead> heads_;
};

// The heads of all results, or of those of a model, newest first.
std::string HeadsQuery(bool has_runs, bool of_model) {
  if (!has_runs)
    return std::string("SELECT sweep_id, model, mode, revision, seq, seq, 0 FROM results") +
           (of_model ? " WHERE model = :model" : "") + " ORDER BY seq DESC";
  const std::string columns =
      std::string("SELECT t.sweep_id, r.model, r.mode, r.revision, ") + kResultNumber + ", r.seq, t.at_ns";
  return columns + (of_model ? kRunsOfRows + " AND r.model = :model ORDER BY 5 DESC"
                             : kRowsOfRuns + " ORDER BY t.seq DESC, r.seq DESC");
}

}  // namespace

Result<std::vector<ResultKey>> SqlStore::NewestKeys(const ResultFilter& filter,
                                                    const std::map<std::string, std::string>& toolchains) {
  std::optional<NewestHeads> heads;
  const auto read = [&](soci::session& sql, const std::string& query, const auto& take, const auto&... values) {
    Query<std::string, std::string, std::string, std::string, Int, Int, Int>(
        sql, query,
        [&](const std::string& sweep, const std::string& model, const std::string& mode, const std::string& revision,
            Int seq, Int row, Int at_ns) {
          return take(ResultHead{{sweep, model, mode, has_runs_ ? row : 0, at_ns}, revision, seq}), true;
        },
        values...);
  };
  const std::string model = ToUtf8(filter.model);
  auto all = db_.Read([&](soci::session& sql) -> Result<void> {
    heads.emplace(filter, toolchains);
    const auto take = [&](ResultHead head) { heads->Add(std::move(head)); };
    const std::string query = HeadsQuery(has_runs_, !model.empty());
    model.empty() ? read(sql, query, take) : read(sql, query, take, model);
    return {};
  });
  if (all) return std::move(*heads).Keys();
  if (!db_.MetDamage()) return all.error();
  if (!has_runs_) return all.error();
  // Reads one row at a time: the numbers come from indexes.
  auto listed = ListRows();
  if (!listed) return listed.error();
  if (auto named = NameRows(*listed); !named) return named.error();
  heads.emplace(filter, toolchains);
  std::map<std::int64_t, std::optional<ResultHead>> known;
  for (const ResultKey& one : *listed) {
    const auto [head, is_new] = known.try_emplace(one.row);
    if (is_new) {
      const auto found = HeadOfRow(one);
      if (!found) return found.error();
      if (*found) head->second = ResultHead{{"", (*found)->model, (*found)->mode}, (*found)->revision, 0};
    }
    if (!head->second) continue;
    const ResultHead& row = *head->second;
    heads->Add({{one.sweep_id, row.key.model, row.key.mode, one.row, one.at_ns}, row.revision, 0});
  }
  return std::move(*heads).Keys();
}

// All results, newest first, without their names. Only indexes are read.
Result<std::vector<ResultKey>> SqlStore::ListRows() {
  return db_.Read([&](soci::session& sql) -> Result<std::vector<ResultKey>> {
    std::vector<ResultKey> rows;
    Query<std::string, Int, Int>(sql,
                                 "SELECT t.sweep_id, r.seq, t.at_ns" + kRowsOfRuns + " ORDER BY t.seq DESC, r.seq DESC",
                                 [&](const std::string& sweep, Int row, Int at_ns) {
                                   return rows.push_back({sweep, "", "", row, at_ns}), true;
                                 });
    return rows;
  });
}

// Model, mode and commit of a row; nullopt: its page is damaged.
Result<std::optional<RowHead>> SqlStore::HeadOfRow(const ResultKey& key) {
  std::optional<RowHead> head;
  auto past =
      ReadPast({"results", "step " + std::to_string(key.row), key.model, ""}, [&](soci::session& sql) -> Result<void> {
        Query<std::string, std::string, std::string>(
            sql, "SELECT model, mode, revision FROM results WHERE seq = :row",
            [&](const std::string& of, const std::string& mode, const std::string& revision) {
              return head = RowHead{of, mode, revision}, false;
            },
            Int{key.row});
        return {};
      });
  if (!past) return past.error();
  return head;
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
    for (const ResultKey& key : *keys) ReadResult(sql, key, read);
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
