// The JSON documents of rows: encodes and decodes them.
//
// A capture's document is ToJson(CaptureResult). A result's document has the rest: the flat fields of the result with
// an empty capture, and the differences between its capture and the stored one (usually none).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/event.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::store {

// Error: kInvalid if a value cannot be written as JSON.
Result<std::string> EncodeCapture(const ModelResult& result);
// `capture_document`: the stored capture's. If it is empty, the result has none and includes its own capture.
Result<std::string> EncodeResult(const ModelResult& result, const std::string& capture_document);
// The same if its capture is the stored one. The second one: as if it were of that sweep.
std::string EncodeWithCapture(const ModelResult& result);
std::string EncodeWithCapture(const ModelResult& result, const std::string& sweep_id, SystemTime finished_at);
// `known`: the stored capture, if the caller has it decoded; then its document is not read.
Result<ModelResult> DecodeResult(const std::string& document, const std::string& capture_document,
                                 const CaptureResult* known = nullptr);
// Without the capture, but its status, mode, detail and suggestion.
Result<ModelResult> DecodeOutcome(const std::string& document);
// Whether a result's document has a capture or its differences from the stored one, which come first.
bool HasOwnCapture(const std::string& document);
// What a result's document says beside its row, without decoding it whole.
struct ResultOutline {
  Family family = Family::kUnknown;
  std::string revision;
  std::optional<std::int64_t> downloads;
  bool has_own_capture = false;  // it differs from the stored one
};
ResultOutline OutlineOf(const std::string& document);

// A plan is stored as a head and one document per model, because its size is unlimited.
std::string EncodePlanHead(const Plan& plan);
// For table "sweeps" as s: 1 for a sweep by a further toolchain.
inline constexpr const char* kFurther = "CASE WHEN s.plan_document LIKE '%\"primary\":false%' THEN 1 ELSE 0 END";
Result<std::string> EncodePlanned(const PlannedModel& planned);
// Appends the models of `documents` to `plan`.
Result<void> DecodePlanned(const std::vector<std::string>& documents, Plan& plan);

// True if the text is a valid event line.
bool IsEventLine(const std::string& line);
// The replacement for an event whose line is damaged.
std::string LostEventLine(std::int64_t id, std::int64_t ts_ns);

}  // namespace breakwatch::store
