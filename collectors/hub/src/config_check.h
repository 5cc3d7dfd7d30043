// Parses the untrusted bytes of a config.json into a RankedModel.
#pragma once

#include <string>

#include "breakwatch/core/model.h"
#include "breakwatch/hub/hub_options.h"
#include "families.h"

namespace breakwatch::hub {

// Sets config_json, model type, architectures, custom_code and family. If the file is invalid, excludes the model with
// the reason. Python writes NaN and Infinity, which are not JSON. They become {"__float__": "NaN"} and so on, the form
// that transformers uses.
void TakeConfig(std::string bytes, const FamilyTable& families, const HubOptions& options, RankedModel& model);

}  // namespace breakwatch::hub
