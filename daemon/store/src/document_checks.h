// Judges: report why a stored document cannot be read. Used by the search for damage and by the repair.
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

inline Cause JudgeSweep(const std::string& document) { return CauseOf(SweepFromJson(document)); }
inline Cause JudgePlanHead(const std::string& document) { return CauseOf(PlanFromJson(document)); }
inline Cause JudgePlanned(const std::string& document) {
  Plan plan;
  return CauseOf(DecodePlanned({document}, plan));
}
inline Cause JudgeCapture(const std::string& document) { return CauseOf(CaptureResultFromJson(document)); }
inline Cause JudgeToolchain(const std::string& document) { return CauseOf(ToolchainFromJson(document)); }
inline Cause JudgeTracked(const std::string& document) { return CauseOf(TrackedModelFromJson(document)); }
inline Cause JudgeLine(const std::string& line) {
  return IsEventLine(line) ? std::nullopt : Cause("its line is not a JSON object");
}

}  // namespace breakwatch::store
