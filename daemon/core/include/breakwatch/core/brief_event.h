// The events that follow from a planned model or a result alone. The store keeps them without their lines.
#pragma once

#include <string>

#include "breakwatch/core/event.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch {

// Limit for texts in the fields of an event, as tracebacks and output: the store has the whole text.
inline constexpr std::size_t kMaxEventText = 4096;

// model_planned.
Event PlannedEvent(const std::string& sweep_id, const PlannedModel& planned);
// The fields that every event of a model's end begins with, as a JSON object.
std::string OutcomeJson(const ModelResult& result);
// The end of a model without findings of its own: model_skipped or, for any other status, model_unchanged.
Event BriefEvent(const ModelResult& result);

}  // namespace breakwatch
