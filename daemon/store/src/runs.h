// Runs: a plan and the results of a sweep as ranges of rows, of this sweep or of an earlier one (FORMAT.md).
//
// The texts of queries that find rows through them, for a store of this version and for an older one without runs.
#pragma once

#include <cstdint>
#include <string>

namespace breakwatch::store {

// The most models of a run. Readers search at most so many numbers before a row for the runs that have it.
inline constexpr std::int64_t kMaxRun = 512;
// Results without a place in the plan, as `store repair` may leave them, come after all others, in the order of steps.
inline constexpr std::int64_t kUnplanned = 1'000'000'000;

// CROSS JOIN keeps the order of the tables in SQLite, so the index of the first one gives the order of the rows.
inline constexpr const char* kPlanOfRuns =
    " FROM plan_runs t CROSS JOIN plans p WHERE t.sweep_id = :id AND p.sweep_id = t.of_sweep"
    " AND p.position >= t.of_position AND p.position < t.of_position + t.models";
inline constexpr const char* kPlanPosition = "t.position + p.position - t.of_position";
// The first condition finds the place in the index of runs: without it, each page would read all runs before it. Bound
// are BeforeRun(position) and, twice, the position.
inline const std::string kPlanAfter =
    std::string(" AND t.position > :low AND t.position + t.models - 1 > :run AND ") + kPlanPosition + " > :after";
// No run that begins here or earlier has a row after the position.
inline constexpr std::int64_t BeforeRun(std::int64_t position) { return position - kMaxRun; }
inline constexpr const char* kPlanOrder = " ORDER BY t.position, p.position";

// Position, model and document of at most `rows` models of a plan after a position. Bound as for kPlanAfter.
inline std::string PlanQuery(bool has_runs, std::int64_t rows) {
  return (has_runs
              ? std::string("SELECT ") + kPlanPosition + ", p.model, p.document" + kPlanOfRuns + kPlanAfter + kPlanOrder
              : "SELECT position, model, document FROM plans WHERE sweep_id = :id AND position > :low"
                " AND position > :run AND position > :after ORDER BY position") +
         " LIMIT " + std::to_string(rows);
}

// From runs to their rows. After it: conditions on t.
inline constexpr const char* kOfRuns = " WHERE r.seq >= t.of_seq AND r.seq < t.of_seq + t.models";
inline const std::string kRowsOfRuns = std::string(" FROM result_runs t CROSS JOIN results r") + kOfRuns;
inline constexpr const char* kWithCaptures = " LEFT JOIN captures c ON c.id = r.capture_id";
inline const std::string kResultsOfRuns =
    std::string(" FROM result_runs t CROSS JOIN results r") + kWithCaptures + kOfRuns;
// From rows to the runs that have them. After it: conditions on r.
inline const std::string kOfRows =
    " WHERE t.of_seq <= r.seq AND t.of_seq > r.seq - " + std::to_string(kMaxRun) + " AND t.of_seq + t.models > r.seq";
inline const std::string kRunsOfRows = " FROM results r CROSS JOIN result_runs t" + kOfRows;
inline const std::string kHistoryOfRows =
    std::string(" FROM results r CROSS JOIN result_runs t") + kWithCaptures + kOfRows;
inline constexpr const char* kResultPosition = "t.position + r.seq - t.of_seq";
inline constexpr const char* kResultNumber = "t.seq + r.seq - t.of_seq";

}  // namespace breakwatch::store
