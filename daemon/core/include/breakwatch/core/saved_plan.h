// A plan from a file or a request, which may have been edited since it was saved.
#pragma once

#include <string_view>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"

namespace breakwatch {

// Rejects other schemas and unknown fields, which PlanFromJson (json.h) ignores.
// Error: kInvalid, naming the model and the field.
Result<Plan> SavedPlanFromJson(std::string_view text);

}  // namespace breakwatch
