// Document checks: report why a stored document cannot be read. Used by the search for damage and by the repair.
#pragma once

#include <optional>
#include <string>

#include "breakwatch/core/json.h"
#include "documents.h"

namespace breakwatch::store {

using Cause = std::optional<std::string>;  // nullopt: it can be read

template <class T>
Cause CauseOf(const Result<T>& read) {
  return read.ok() ? std::nullopt : Cause(read.error().message);
}

inline Cause CheckSweep(const std::string& document) { return CauseOf(SweepFromJson(document)); }
inline Cause CheckPlanHead(const std::string& document) { return CauseOf(PlanFromJson(document)); }
inline Cause CheckPlanned(const std::string& document) {
  Plan plan;
  return CauseOf(DecodePlanned({document}, plan));
}
inline Cause CheckCapture(const std::string& document) { return CauseOf(CaptureResultFromJson(document)); }
inline Cause CheckToolchain(const std::string& document) { return CauseOf(ToolchainFromJson(document)); }
inline Cause CheckTracked(const std::string& document) { return CauseOf(TrackedModelFromJson(document)); }
inline Cause CheckRequest(const std::string& document) { return CauseOf(ArtifactRequestFromJson(document)); }
inline Cause CheckStage(const std::string& document) { return CauseOf(StageRecordFromJson(document)); }
inline Cause CheckLine(const std::string& line) {
  return IsEventLine(line) ? std::nullopt : Cause("its line is not a JSON object");
}

}  // namespace breakwatch::store
