// The history in bounded parts. Each query begins at its place in an index and stops at the end of the page.
#include "breakwatch/store/pages.h"

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "runs.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

// The columns that ReadPlaced takes, after the place.
constexpr const char* kOfRow = "r.model, r.mode, r.seq, t.at_ns, COALESCE(r.capture_id, ''), r.document";
constexpr const char* kOfOldRow = "r.model, r.mode, 0, 0, COALESCE(r.capture_id, ''), r.document";

std::string Columns(const std::string& place, const std::string& sweep, const char* of_row) {
  return "SELECT " + place + ", " + sweep + ", " + of_row + ", COALESCE(c.document, '')";
}

// The results of a sweep after a place, in plan order. After it: further conditions on r, and kPlaceOrder.
std::string ResultPage(bool has_runs) {
  if (has_runs)
    return Columns(kResultPosition, "t.sweep_id", kOfRow) + kResultsOfRuns +
           " AND t.sweep_id = :id AND t.position > :low AND t.position + t.models > :place AND " + kResultPosition +
           " >= :from ";
  return Columns("p.position", "r.sweep_id", kOfOldRow) + " FROM plans p CROSS JOIN results r" + kWithCaptures +
         " WHERE p.sweep_id = :id AND p.position > :low AND p.position >= :place AND p.position >= :from AND "
         "r.sweep_id = p.sweep_id"
         " AND r.model = p.model AND r.mode = p.mode ";
}
std::string HistoryPage(bool has_runs) {
  if (has_runs)
    return Columns(kResultNumber, "t.sweep_id", kOfRow) + kHistoryOfRows + " AND r.model = :model AND " +
           kResultNumber + " < :place ORDER BY 1 DESC";
  return Columns("r.seq", "r.sweep_id", kOfOldRow) + " FROM results r" + kWithCaptures +
         " WHERE r.model = :model AND r.seq < :place ORDER BY r.seq DESC";
}

Error NoSweep(const std::string& id, const std::string& where) {
  return {ErrorCode::kNotFound, "no sweep " + id + " in " + where};
}

// Places in the store begin at 0; those of pages at 1, so 0 means the first page.
std::int64_t PlaceOf(Int position) { return position + 1; }

}  // namespace

template <class... Values>
std::vector<PlacedResult> SqlStore::ReadPlaced(soci::session& sql, const std::string& query, const PageSize& size,
                                               const Values&... values) {
  std::vector<PlacedResult> page;
  std::size_t bytes = 0;
  int rows = 0;
  Query<Int, std::string, std::string, std::string, Int, Int, std::string, std::string, std::string>(
      sql, query,
      [&](Int place, const std::string& sweep, const std::string& model, const std::string& mode, Int row, Int at_ns,
          const std::string& capture_id, const std::string& document, const std::string& capture) {
        bytes += document.size() + capture.size();
        if (rows >= size.rows || (rows > 0 && bytes > size.bytes)) return false;
        ++rows;
        auto result = DecodeOrReport({sweep, model, mode, row, at_ns}, capture_id, document, capture);
        if (result) page.push_back({place, std::move(*result)});
        return true;
      },
      values...);
  return page;
}

Result<std::vector<PlacedResult>> SqlStore::ResultsAfter(const std::string& sweep_id, const std::string& mode,
                                                         std::int64_t place, const PageSize& size) {
  const std::string id = ToUtf8(sweep_id);
  return db_.Read([&](soci::session& sql) -> Result<std::vector<PlacedResult>> {
    if (Scalar(sql, "SELECT COUNT(*) FROM sweeps WHERE id = :id", 0, id) == 0) return NoSweep(id, db_.name());
    const Int from = place, low = BeforeRun(place);
    const std::string order =
        (has_runs_ ? "ORDER BY t.position, r.seq LIMIT " : "ORDER BY p.position LIMIT ") + std::to_string(size.rows);
    const std::string query = ResultPage(has_runs_);
    auto page = mode.empty()
                    ? ReadPlaced(sql, query + order, size, id, low, from, from)
                    : ReadPlaced(sql, query + "AND r.mode = :mode " + order, size, id, low, from, from, ToUtf8(mode));
    for (PlacedResult& row : page) row.place = PlaceOf(row.place);
    return page;
  });
}

Result<PlanPage> SqlStore::PlanAfter(const std::string& sweep_id, std::int64_t place, int rows) {
  const std::string id = ToUtf8(sweep_id);
  auto head = LoadPlanHead(id);
  if (!head) return head.error();
  PlanPage page{*std::move(head), {}, {}};
  page.plan.models.clear();
  auto read = db_.Read([&](soci::session& sql) -> Result<void> {
    Query<std::string, Int>(
        sql,
        has_runs_ ? std::string("SELECT p.action, COUNT(*)") + kPlanOfRuns + " GROUP BY p.action"
                  : "SELECT action, COUNT(*) FROM plans WHERE sweep_id = :id GROUP BY action",
        [&](const std::string& action, Int count) { return page.actions[action] = count, true; }, id);
    Query<Int, std::string, std::string>(
        sql, PlanQuery(has_runs_, rows),
        [&](Int position, const std::string& model, const std::string& document) {
          const std::size_t before = page.plan.models.size();
          if (auto decoded = DecodePlanned({document}, page.plan); !decoded) {
            page.plan.models.resize(before);
            Report({"plans", "sweep " + id, model, decoded.error().message});
            return true;
          }
          page.plan.models.back().config_json.clear();
          page.places.push_back(PlaceOf(position));
          return true;
        },
        id, Int{BeforeRun(place - 1)}, Int{place - 1}, Int{place - 1});
    return {};
  });
  if (!read) return read.error();
  return page;
}

Result<std::vector<PlacedResult>> SqlStore::HistoryBefore(const std::string& model, std::int64_t place,
                                                          const PageSize& size) {
  constexpr Int kNewest = 9'000'000'000'000'000;
  auto page = db_.Read([&](soci::session& sql) -> Result<std::vector<PlacedResult>> {
    return ReadPlaced(sql, HistoryPage(has_runs_) + " LIMIT " + std::to_string(size.rows), size, ToUtf8(model),
                      place == 0 ? kNewest : Int{place});
  });
  if (!page) return page;
  for (PlacedResult& row : *page) {
    Toolchain& toolchain = row.result.capture.toolchain;
    if (!toolchain.torch.empty()) continue;
    // A result without a capture still belongs to the toolchain of its sweep.
    if (auto sweep = FindSweep(row.result.sweep_id)) toolchain.name = sweep->toolchain.name;
  }
  return page;
}

Result<std::vector<std::string>> SqlStore::ModelsAfter(const std::string& model, const std::string& contains,
                                                       int rows) {
  return db_.Read([&](soci::session& sql) -> Result<std::vector<std::string>> {
    std::vector<std::string> models;
    Query<std::string>(
        sql, "SELECT DISTINCT model FROM results WHERE model > :model ORDER BY model",
        [&](const std::string& id) {
          if (contains.empty() || id.find(contains) != std::string::npos) models.push_back(id);
          return models.size() < static_cast<std::size_t>(rows);
        },
        ToUtf8(model));
    return models;
  });
}

Result<std::vector<DeadLetter>> SqlStore::LettersAfter(const std::string& exporter, const std::string& after_exporter,
                                                       std::int64_t after_event, const PageSize& size) {
  LetterFilter filter{.exporter = exporter, .ids = {}};
  filter.after_exporter = after_exporter;
  filter.after_event = after_event;
  return ReadLetters(filter, /*only_queued=*/false, size.rows, size.bytes);
}

}  // namespace breakwatch::store
