// The JSON documents of rows: what is in them, and how they become values again.
//
// A capture's document is ToJson(CaptureResult). A result's document holds the rest: the flat fields of
// the result with an empty capture, and how its capture differs from the stored one (mostly nothing).
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/event.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::store {

// Error: kInvalid, something in the value cannot be written as JSON.
Result<std::string> EncodeCapture(const ModelResult& result);
// `capture_document`: the stored capture's; empty when the result has none, then its own goes along whole.
Result<std::string> EncodeResult(const ModelResult& result, const std::string& capture_document);
Result<ModelResult> DecodeResult(const std::string& document, const std::string& capture_document);

// A plan is stored as a head and one document per model: its size has no bound of its own.
std::string EncodePlanHead(const Plan& plan);
// Of table "sweeps" as s: 1 for a sweep by a further toolchain.
inline constexpr const char* kFurther = "CASE WHEN s.plan_document LIKE '%\"primary\":false%' THEN 1 ELSE 0 END";
Result<std::string> EncodePlanned(const PlannedModel& planned);
// Appends the models of `documents` to `plan`.
Result<void> DecodePlanned(const std::vector<std::string>& documents, Plan& plan);

// What an event's line has to be.
bool IsEventLine(const std::string& line);
// Stands for an event whose line is damaged.
std::string LostEventLine(std::int64_t id, std::int64_t ts_ns);

}  // namespace breakwatch::store
