// Decides why a model is not captured, from the listing and its configuration.
#pragma once

#include <optional>
#include <string>

#include "breakwatch/core/model_lister.h"
#include "breakwatch/hub/hub_options.h"
#include "families.h"

namespace breakwatch::hub {

struct Exclusion {
  Status status = Status::kFailedResolve;
  std::string detail;  // never empty
};

// Decides before config.json is requested: disabled, library, size, and filters that the server did not apply.
std::optional<Exclusion> ExcludeByInfo(const ModelInfo& info, const ListRequest& request, const HubOptions& options,
                                       const FamilyTable& families);

void Exclude(RankedModel& model, Exclusion exclusion);

}  // namespace breakwatch::hub
