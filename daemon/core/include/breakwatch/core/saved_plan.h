// A plan as a file or a request holds it: somebody may have changed it since it was saved.
#pragma once

#include <string_view>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"

namespace breakwatch {

// Refuses another schema and fields of unknown names, which PlanFromJson (json.h) lets pass.
// Error: kInvalid, naming the model and the field.
Result<Plan> SavedPlanFromJson(std::string_view text);

}  // namespace breakwatch
