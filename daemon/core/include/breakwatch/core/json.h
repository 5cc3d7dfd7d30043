// Core values as JSON text and back. The only place with the contract's field names.
//
// Error: kInvalid with the field's name. Unknown fields are ignored: an older reader can read newer rows.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/core/artifact.h"
#include "breakwatch/core/capture.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch {

std::string ToJson(const Toolchain& toolchain);
std::string ToJson(const CaptureJob& job);  // as the protocol's "capture" message, without "type"
std::string ToJson(const CaptureResult& result);
std::string ToJson(const ModelResult& result);  // flat: a line of results.jsonl
std::string ToJson(const Plan& plan);
std::string ToJson(const PlannedModel& planned);  // as in a plan
std::string ToJson(const Sweep& sweep);
std::string ToJson(const TrackedModel& model);
std::string ToJson(const ArtifactRequest& request);
std::string ToJson(const StageRecord& record);
std::string ToJson(const Artifact& artifact);  // with its stages

Result<Toolchain> ToolchainFromJson(std::string_view text);
Result<CaptureResult> CaptureResultFromJson(std::string_view text);  // as the protocol's "result" message
Result<ModelResult> ModelResultFromJson(std::string_view text);
Result<Plan> PlanFromJson(std::string_view text);
Result<Sweep> SweepFromJson(std::string_view text);
Result<TrackedModel> TrackedModelFromJson(std::string_view text);
Result<ArtifactRequest> ArtifactRequestFromJson(std::string_view text);
Result<StageRecord> StageRecordFromJson(std::string_view text);
Result<Manifest> ManifestFromJson(std::string_view text);  // manifest.json of a package

// Checks bytes from outside before they are parsed: size, depth (iteratively, so that hostile nesting
// cannot exhaust the stack) and well-formedness. Error: kInvalid, with the byte where it went wrong.
Result<void> CheckJson(std::string_view text, std::size_t max_bytes, int max_depth);

}  // namespace breakwatch
