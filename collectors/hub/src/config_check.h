// Takes the bytes of a config.json, which may be anything, into a RankedModel.
#pragma once

#include <string>

#include "breakwatch/core/model.h"
#include "breakwatch/hub/hub_options.h"
#include "families.h"

namespace breakwatch::hub {

// Fills config_json, model type, architectures, custom_code and family; or excludes the model, saying what is wrong
// with the file. Python writes bare NaN and Infinity, which are not JSON: they become {"__float__": "NaN"} and so on,
// the spelling that transformers itself writes and reads.
void TakeConfig(std::string bytes, const FamilyTable& families, const HubOptions& options, RankedModel& model);

}  // namespace breakwatch::hub
