#include "breakwatch/core/status.h"

#include <array>

namespace breakwatch {
namespace {

// The properties of each status. A new status needs only a new row.
struct Row {
  Status status;
  std::string_view name;
  bool reusable;
  bool towards_quarantine;
};

constexpr std::array kRows = {
    Row{Status::kFullGraph, "full_graph", true, false},
    Row{Status::kGraphBreaks, "graph_breaks", true, false},
    Row{Status::kFailedResolve, "failed_resolve", false, false},
    Row{Status::kFailedCreate, "failed_create", true, false},
    Row{Status::kFailedInputs, "failed_inputs", true, false},
    Row{Status::kFailedEager, "failed_eager", true, false},
    Row{Status::kFailedCapture, "failed_capture", true, false},
    Row{Status::kFailedBuild, "failed_build", false, false},
    Row{Status::kFailedCheck, "failed_check", false, false},
    Row{Status::kWrongResult, "wrong_result", false, false},
    Row{Status::kFailedPublish, "failed_publish", false, false},
    Row{Status::kTimeout, "timeout", false, true},
    Row{Status::kOutOfMemory, "out_of_memory", false, true},
    Row{Status::kCrashed, "crashed", false, true},
    Row{Status::kWorkerLost, "worker_lost", false, false},
    Row{Status::kQuarantined, "quarantined", false, false},
    Row{Status::kNotAttempted, "not_attempted", false, false},
    Row{Status::kSkippedGated, "skipped_gated", false, false},
    Row{Status::kSkippedCustomCode, "skipped_custom_code", false, false},
    Row{Status::kSkippedTooLarge, "skipped_too_large", false, false},
    Row{Status::kSkippedNoConfig, "skipped_no_config", false, false},
    Row{Status::kSkippedUnsupportedLibrary, "skipped_unsupported_library", false, false},
    Row{Status::kSkippedMissingDependency, "skipped_missing_dependency", false, false},
    Row{Status::kSkippedDisabled, "skipped_disabled", false, false},
    Row{Status::kSkippedNotFound, "skipped_not_found", false, false},
    Row{Status::kSkippedFiltered, "skipped_filtered", false, false},
};

constexpr std::array<Status, kRows.size()> kAll = [] {
  std::array<Status, kRows.size()> all{};
  for (std::size_t i = 0; i < kRows.size(); ++i) all[i] = kRows[i].status;
  return all;
}();

constexpr bool RowsAreInOrder() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].status) != i) return false;
  }
  return true;
}
static_assert(RowsAreInOrder(), "a status is its row's index");

const Row& RowOf(Status status) { return kRows[static_cast<std::size_t>(status)]; }

}  // namespace

std::span<const Status> AllStatuses() { return kAll; }

std::string_view StatusName(Status status) { return RowOf(status).name; }

std::optional<Status> ParseStatus(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.status;
  }
  return std::nullopt;
}

bool HasNumbers(Status status) { return status == Status::kFullGraph || status == Status::kGraphBreaks; }
bool IsReusable(Status status) { return RowOf(status).reusable; }
bool CountsTowardsQuarantine(Status status) { return RowOf(status).towards_quarantine; }
bool IsSkipped(Status status) { return status >= Status::kSkippedGated; }
bool IsIncomplete(Status status) { return status == Status::kNotAttempted || status == Status::kWorkerLost; }

}  // namespace breakwatch
