// Status: how a model of a plan ended, and what that means for reuse.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace breakwatch {

enum class Status {
  kFullGraph,
  kGraphBreaks,
  kFailedResolve,
  kFailedCreate,
  kFailedInputs,
  kFailedEager,
  kFailedCapture,
  kFailedBuild,
  kFailedCheck,
  kWrongResult,
  kFailedPublish,
  kTimeout,
  kOutOfMemory,
  kCrashed,
  kWorkerLost,
  kQuarantined,
  kNotAttempted,
  kSkippedGated,
  kSkippedCustomCode,
  kSkippedTooLarge,
  kSkippedNoConfig,
  kSkippedUnsupportedLibrary,
  kSkippedMissingDependency,
  kSkippedDisabled,
  kSkippedNotFound,
  kSkippedFiltered,
};

// Every status, in the order of the documentation.
std::span<const Status> AllStatuses();

// The contract's spelling ("full_graph", "failed_eager", "skipped_gated", ...).
std::string_view StatusName(Status status);
std::optional<Status> ParseStatus(std::string_view name);

// The capture has numbers: full_graph or graph_breaks.
bool HasNumbers(Status status);
// Another capture of the same structure would end the same way: kept under --rebuild if-needed.
bool IsReusable(Status status);
// Statuses that count towards quarantine: timeout, out_of_memory, crashed.
bool CountsTowardsQuarantine(Status status);
// skipped_*: decided without a capture.
bool IsSkipped(Status status);
// The sweep is incomplete because of it: not_attempted or worker_lost.
bool IsIncomplete(Status status);

}  // namespace breakwatch
