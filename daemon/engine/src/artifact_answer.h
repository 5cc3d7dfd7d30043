// What a worker and a checker answered about a package, as records of stages. A worker ran models, so its answer is
// checked field by field.
#pragma once

#include <optional>
#include <string>

#include "breakwatch/core/artifact.h"
#include "breakwatch/core/capture.h"
#include "breakwatch/core/package_checker.h"
#include "breakwatch/core/result.h"

namespace breakwatch::engine {

// Status, cause, detail and report of a build for one target.
void TakeAnswer(const CaptureResult& result, const std::string& target, StageRecord& record);
// The text of build.log: what the model printed, and the error.
std::string LogOf(const CaptureResult& result);
// The comparison that the worker made while it built, for targets that no program of ours loads. nullopt: none.
std::optional<PackageVerdict> RecordedVerdict(const StageRecord& build);
void TakeVerdict(const PackageVerdict& verdict, StageRecord& record);

}  // namespace breakwatch::engine
