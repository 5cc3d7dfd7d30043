// Finds the rows of an earlier sweep that have the same text as those that a sweep is about to write. They are read
// before the transaction: a damaged page must not stop a sweep, so its models get rows of their own.
#include <algorithm>
#include <limits>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "runs.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr Int kSweepsSearched = 16;

using Entry = std::pair<std::string, std::string>;  // model, mode

// Whether a plan is likely to have the same entries: made by the same toolchain, of the same list.
bool IsLike(const Plan& head, const Plan& plan) {
  return head.source == plan.source && head.ranked == plan.ranked && head.toolchain.Key() == plan.toolchain.Key() &&
         head.toolchain.worker == plan.toolchain.worker;
}

}  // namespace

// The newest complete sweep like this one that began before the step; empty: none.
std::string SqlStore::EarlierSweep(const Plan& plan, std::int64_t before) {
  std::string found;
  (void)db_.Read([&](soci::session& sql) -> Result<void> {
    Query<std::string, std::string, std::string>(
        sql,
        "SELECT id, document, plan_document FROM sweeps WHERE seq < :before AND state = 'finished'"
        " ORDER BY seq DESC LIMIT :limit",
        [&](const std::string& id, const std::string& document, const std::string& plan_document) {
          const auto sweep = SweepFromJson(document);
          const auto head = PlanFromJson(plan_document);
          if (sweep && head && !IsGivenUp(*sweep) && IsLike(*head, plan)) found = id;
          return found.empty();
        },
        Int{before}, kSweepsSearched);
    return {};
  });
  return found;
}

PlanRows SqlStore::RepeatedPlan(const Plan& plan) {
  PlanRows repeated(plan.models.size());
  const std::string earlier = EarlierSweep(plan, std::numeric_limits<Int>::max());
  if (earlier.empty()) return repeated;
  std::map<Entry, PlanRow> known;
  (void)db_.Read([&](soci::session& sql) -> Result<void> {
    Query<std::string, Int, std::string, std::string>(
        sql, std::string("SELECT p.sweep_id, p.position, p.model, p.mode") + kPlanOfRuns,
        [&](const std::string& sweep, Int position, const std::string& model, const std::string& mode) {
          return known[{model, mode}] = {sweep, position}, true;
        },
        earlier);
    return {};
  });
  const auto row_of = [&](std::size_t i) -> const PlanRow* {
    const auto row = i < plan.models.size() ? known.find({plan.models[i].info.id, plan.models[i].mode}) : known.end();
    return row == known.end() ? nullptr : &row->second;
  };
  for (std::size_t i = 0; i < plan.models.size();) {
    const PlanRow* const first = row_of(i);
    std::size_t end = i + 1;
    if (first == nullptr) {
      i = end;
      continue;
    }
    for (const PlanRow* next = row_of(end); next != nullptr && end - i < kMaxRun; next = row_of(++end)) {
      if (next->sweep_id != first->sweep_id || next->position != first->position + static_cast<Int>(end - i)) break;
    }
    // After a damaged page the rest of the range has rows of its own.
    (void)db_.Read([&](soci::session& sql) -> Result<void> {
      Query<Int, std::string>(
          sql,
          "SELECT position, document FROM plans WHERE sweep_id = :sweep AND position >= :first AND position < :end"
          " ORDER BY position",
          [&](Int position, const std::string& document) {
            const std::size_t place = i + static_cast<std::size_t>(position - first->position);
            const auto own = EncodePlanned(plan.models[place]);
            if (own && *own == document) repeated[place] = PlanRow{first->sweep_id, position};
            return true;
          },
          first->sweep_id, Int{first->position}, Int{first->position} + static_cast<Int>(end - i));
      return {};
    });
    i = end;
  }
  return repeated;
}

// Reads where the models of a sweep are in its plan, unless this session wrote the sweep last.
Result<void> SqlStore::OpenForWriting(const std::string& sweep_id) {
  const auto newest = NewestStep();
  if (!newest) return newest.error();
  if (open_.id == sweep_id && open_.step == *newest) return {};
  OpenSweep open;
  open.id = sweep_id, open.step = *newest;
  auto read = db_.Read([&](soci::session& sql) -> Result<void> {
    open.places.clear();
    Query<Int, std::string, std::string>(
        sql, std::string("SELECT ") + kPlanPosition + ", p.model, p.mode" + kPlanOfRuns,
        [&](Int position, const std::string& model, const std::string& mode) {
          return open.places[{model, mode}] = static_cast<std::size_t>(position), true;
        },
        sweep_id);
    std::size_t size = 0;
    for (const auto& [entry, place] : open.places) size = std::max(size, place + 1);
    open.done.assign(size, false);
    Query<Int, Int>(
        sql, "SELECT position, models FROM result_runs WHERE sweep_id = :id",
        [&](Int position, Int models) {
          for (Int i = position; i < position + models && i < static_cast<Int>(size); ++i)
            open.done[static_cast<std::size_t>(i)] = true;
          return true;
        },
        sweep_id);
    return {};
  });
  if (!read) return read;
  open.earlier.assign(open.done.size(), 0);
  ReadEarlierResults(sweep_id, open);
  open_ = std::move(open);
  return {};
}

Result<std::vector<bool>> SqlStore::HaveResults(const std::string& sweep_id) {
  if (auto opened = OpenForWriting(ToUtf8(sweep_id)); !opened) return opened.error();
  return open_.done;
}

void SqlStore::ReadEarlierResults(const std::string& sweep_id, OpenSweep& open) {
  const auto head = LoadPlanHead(sweep_id);
  const auto began = db_.Read([&](soci::session& sql) -> Result<Int> {
    return Scalar(sql, "SELECT seq FROM sweeps WHERE id = :id", 0, sweep_id);
  });
  if (!head || !began) return;
  const std::string earlier = EarlierSweep(*head, *began);
  if (earlier.empty()) return;
  (void)db_.Read([&](soci::session& sql) -> Result<void> {
    Query<Int, std::string, std::string>(
        sql, std::string("SELECT r.seq, r.model, r.mode") + kRowsOfRuns + " AND t.sweep_id = :id",
        [&](Int row, const std::string& model, const std::string& mode) {
          const auto place = open.places.find({model, mode});
          if (place != open.places.end()) open.earlier[place->second] = row;
          return true;
        },
        earlier);
    return {};
  });
}

bool SqlStore::HasStoredCapture(const ModelResult& result) const {
  const auto stored = captures_.find(result.capture_id);
  return stored != captures_.end() && stored->second == result.capture;
}

// The row of each result that has the same text in the sweep before; 0: none.
std::vector<std::int64_t> SqlStore::RepeatedResults(std::span<const ResultWrite> writes) {
  std::vector<std::int64_t> rows(writes.size(), 0);
  const auto row_of = [&](std::size_t i) -> std::int64_t {
    if (i >= writes.size()) return 0;
    const auto place = open_.places.find({ToUtf8(writes[i].result.info.id), ToUtf8(writes[i].result.capture.mode)});
    return place == open_.places.end() ? 0 : open_.earlier[place->second];
  };
  const auto is_same = [&](std::size_t i, const std::string& sweep_id, Int finished, const std::string& document) {
    const ModelResult& result = writes[i].result;
    if (!result.capture_id.empty())
      return HasStoredCapture(result) && EncodeWithCapture(result, sweep_id, FromNanoseconds(finished)) == document;
    ModelResult other = result;
    other.sweep_id = sweep_id, other.finished_at = FromNanoseconds(finished);
    const auto own = EncodeResult(other, "");
    return own && *own == document;
  };
  for (std::size_t i = 0; i < writes.size();) {
    const std::int64_t first = row_of(i);
    std::size_t end = i + 1;
    if (first == 0) {
      i = end;
      continue;
    }
    while (end - i < kMaxRun && row_of(end) == first + static_cast<std::int64_t>(end - i)) ++end;
    // After a damaged page the rest of the range has rows of its own.
    (void)db_.Read([&](soci::session& sql) -> Result<void> {
      Query<Int, std::string, Int, std::string>(
          sql,
          "SELECT seq, sweep_id, finished_ns, document FROM results WHERE seq >= :first AND seq < :end ORDER BY seq",
          [&](Int row, const std::string& sweep_id, Int finished, const std::string& document) {
            const std::size_t place = i + static_cast<std::size_t>(row - first);
            if (is_same(place, sweep_id, finished, document)) rows[place] = row;
            return true;
          },
          Int{first}, Int{first} + static_cast<Int>(end - i));
      return {};
    });
    i = end;
  }
  return rows;
}

}  // namespace breakwatch::store
