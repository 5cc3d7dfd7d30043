// Writes results: rows of their own, or runs of rows of an earlier sweep with the same text.
#include <map>
#include <utility>

#include "batch.h"
#include "breakwatch/core/brief_event.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "runs.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

// Why results of a sweep may not be stored; nullopt if they may.
std::optional<Error> Refused(soci::session& sql, const std::string& sweep_id) {
  std::string state;
  Query<std::string>(
      sql, "SELECT state FROM sweeps WHERE id = :id", [&](const std::string& text) { return state = text, false; },
      sweep_id);
  if (state.empty()) return Error{ErrorCode::kNotFound, "no sweep " + sweep_id + " for a result"};
  if (state == SweepStateName(SweepState::kFinished))
    return Error{ErrorCode::kInvalid, "sweep " + sweep_id + " is finished and takes no more results"};
  return std::nullopt;
}

// Collects the changes of many results: the newest of each row.
class Changes {
 public:
  void Add(const CurrentChange& change) {
    for (const auto& row : change.upserts.shared()) upserts_[row->model] = row;
    for (const auto& [key, value] : change.meta) merged_.meta[key] = value;
  }
  CurrentChange Take() {
    for (auto& [model, row] : upserts_) merged_.upserts.push_back(std::move(row));
    upserts_.clear();
    return std::exchange(merged_, {});
  }
  // Whether a change can be collected with others.
  static bool IsPlain(const CurrentChange& change) { return change.removals.empty() && change.trends.folds.empty(); }

 private:
  std::map<std::string, ModelList::Pointer> upserts_;
  CurrentChange merged_;
};

}  // namespace

// Collects the runs of the results of one call.
class SqlStore::RunWriter {
 public:
  RunWriter(SqlStore& store, soci::session& sql) : store_(store), sql_(sql) {}

  // `row`: the number of the row that the result with the number `seq` has; `at_ns`: when it ended, 0 as the row says.
  void Add(const std::string& sweep_id, std::int64_t position, std::int64_t seq, std::int64_t row, std::int64_t at_ns) {
    const std::int64_t after = run_.models;
    if (after > 0 && after < kMaxRun && position == run_.position + after && seq == run_.seq + after &&
        row == run_.row + after && at_ns == run_.at_ns) {
      ++run_.models;
      return;
    }
    Flush();
    run_ = {sweep_id, position, seq, row, 1, at_ns};
  }

  void Flush() {
    if (run_.models == 0) return;
    Exec(sql_,
         "INSERT INTO result_runs (sweep_id, position, seq, of_seq, models, at_ns)"
         " VALUES (:sweep, :position, :seq, :row, :models, :at)",
         run_.sweep_id, Int{run_.position}, Int{run_.seq}, Int{run_.row}, Int{run_.models}, Int{run_.at_ns});
    if (run_.row != run_.seq)
      store_.WriteStep(sql_, run_.seq + run_.models - 1, kRepeatedStep, run_.sweep_id, "", "", "");
    run_.models = 0;
  }

 private:
  SqlStore& store_;
  soci::session& sql_;
  ResultRun run_;
};

Result<void> SqlStore::AppendResults(std::span<const ResultWrite> writes) {
  if (writes.empty()) return {};
  const std::string sweep_id = ToUtf8(writes.front().result.sweep_id);
  if (auto opened = OpenForWriting(sweep_id); !opened) return opened;
  const std::vector<std::int64_t> rows = RepeatedResults(writes);
  auto appended = db_.Write([&](soci::session& sql) { return WriteResults(sql, sweep_id, writes, rows); });
  if (!appended) open_ = {};
  return appended;
}

// The place of a result in the plan, which it takes.
Result<std::int64_t> SqlStore::TakePlace(soci::session& sql, const ModelResult& result, std::int64_t seq) {
  const std::string model = ToUtf8(result.info.id), mode = ToUtf8(result.capture.mode);
  const Error twice{ErrorCode::kInvalid, "sweep " + open_.id + " has a result of " + model + " (" + mode + ") already"};
  if (ToUtf8(result.sweep_id) != open_.id) return Error{ErrorCode::kInvalid, "results of several sweeps at once"};
  const auto place = open_.places.find({model, mode});
  if (place == open_.places.end()) {
    if (Scalar(sql, "SELECT COUNT(*) FROM results WHERE sweep_id = :sweep AND model = :model AND mode = :mode", 0,
               open_.id, model, mode) > 0)
      return twice;
    return kUnplanned + seq;
  }
  if (open_.done[place->second]) return twice;
  open_.done[place->second] = true;
  return static_cast<std::int64_t>(place->second);
}

Result<void> SqlStore::WriteResults(soci::session& sql, const std::string& sweep_id,
                                    std::span<const ResultWrite> writes, const std::vector<std::int64_t>& rows) {
  if (auto refused = Refused(sql, sweep_id)) return *refused;
  Int seq = NextStep(sql);
  RunWriter runs(*this, sql);
  EventPlaces places{sweep_id, EventPlaces::kEndedEvents, {}};
  std::vector<Event> events;
  Changes changes;
  for (std::size_t i = 0; i < writes.size(); ++i, ++seq) {
    const ModelResult& result = writes[i].result;
    const auto place = TakePlace(sql, result, seq);
    if (!place) return place.error();
    if (rows[i] != 0) {
      runs.Add(sweep_id, *place, seq, rows[i], Nanoseconds(result.finished_at));
    } else {
      if (auto written = WriteResult(sql, result, seq); !written) return written;
      runs.Add(sweep_id, *place, seq, seq, 0);
    }
    // Only one such event follows from the result.
    const bool follows = writes[i].events.size() == 1 && writes[i].events.front() == BriefEvent(result);
    for (const Event& event : writes[i].events) {
      events.push_back(event);
      places.places.push_back(follows ? *place : -1);
    }
    if (Changes::IsPlain(writes[i].change)) {
      changes.Add(writes[i].change);
    } else {
      WriteChange(sql, changes.Take());
      WriteChange(sql, writes[i].change);
    }
  }
  runs.Flush();
  WriteRevisions(sql, writes, seq - static_cast<Int>(writes.size()));
  WriteEvents(sql, events, places);
  WriteChange(sql, changes.Take());
  open_.step = seq - 1;
  return {};
}

Result<void> SqlStore::WriteResult(soci::session& sql, const ModelResult& result, std::int64_t seq) {
  const std::string model = ToUtf8(result.info.id), mode = ToUtf8(result.capture.mode);
  const std::string sweep_id = ToUtf8(result.sweep_id), structure = ToUtf8(result.structure);
  WriteStep(sql, seq, StepKindName(HistoryStep::Kind::kResult), sweep_id, model, mode, "");
  if (!structure.empty())
    Exec(sql,
         "INSERT INTO structures (digest, first_seen_ns, first_model) VALUES (:digest, :seen, :model)"
         " ON CONFLICT (digest) DO NOTHING",
         structure, Nanoseconds(result.finished_at), model);
  const auto capture = WriteCapture(sql, result, seq);
  if (!capture) return capture.error();
  const auto document = HasStoredCapture(result) && !capture->empty() ? Result<std::string>(EncodeWithCapture(result))
                                                                      : EncodeResult(result, *capture);
  if (!document) return document.error();
  Exec(sql,
       "INSERT INTO results (sweep_id, model, mode, seq, revision, structure, capture_id, status, finished_ns,"
       " document) VALUES (:sweep, :model, :mode, :seq, :revision, :structure, NULLIF(:capture, ''), :status,"
       " :finished, :document)",
       sweep_id, model, mode, Int{seq}, ToUtf8(result.info.sha), structure, ToUtf8(result.capture_id),
       std::string(StatusName(result.capture.status)), Nanoseconds(result.finished_at), *document);
  return {};
}

// Only captured models count as known: one that was only planned is still new.
void SqlStore::WriteRevisions(soci::session& sql, std::span<const ResultWrite> writes, std::int64_t first_seq) {
  using Key = std::array<std::string, 4>;
  std::map<Key, std::pair<const ModelResult*, std::int64_t>> newest;  // a statement must not change a row twice
  for (const ResultWrite& write : writes) {
    const ModelResult& result = write.result;
    const std::int64_t seq = first_seq++;
    if (result.info.sha.empty() || result.structure.empty() || result.capture_id.empty()) continue;
    newest[{ToUtf8(result.info.id), ToUtf8(result.info.sha), ToUtf8(result.structure),
            ToUtf8(result.capture.toolchain.Key())}] = {&result, seq};
  }
  Batch rows(sql, db_.dialect(), "revisions",
             {{"model"},
              {"revision"},
              {"structure"},
              {"toolchain"},
              {"toolchain_document"},
              {"first_seen_ns", true},
              {"last_seq", true}},
             "ON CONFLICT (model, revision, structure, toolchain) DO UPDATE SET last_seq = excluded.last_seq,"
             " toolchain_document = excluded.toolchain_document");
  for (const auto& [key, found] : newest) {
    const auto& [result, seq] = found;
    rows.Add(
        {key[0], key[1], key[2], key[3], ToJson(result->capture.toolchain), Nanoseconds(result->finished_at), seq});
  }
  rows.Flush();
}

}  // namespace breakwatch::store
