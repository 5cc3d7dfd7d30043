// ModelRules: the content of models.file: who owns which models, and what sweeps do differently for some models.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/filter_subject.h"
#include "breakwatch/core/model.h"
#include "breakwatch/core/model_filter.h"

namespace breakwatch {

// What differs for the models that an entry matches. Empty fields: nothing does.
struct ModelOverride {
  ModelFilter models{};              // of facts that need no capture
  std::string inputs_json{};         // as CaptureJob::inputs_spec_json
  std::vector<std::string> modes{};  // instead of capture.modes; distinct
  LimitOverrides limits{};
  std::string dtype{}, attention{};  // as in CaptureJob
  std::string skip{};                // why no model of this entry is captured
  std::string skip_place{};          // its place in the file: "models.yaml:12:5"
};

struct ModelRules {
  ModelOwners owners;
  std::vector<ModelOverride> overrides;
};

// All entries that match a model, as one: of each field, the value of the last entry that has one.
ModelOverride OverrideOf(const ModelInfo& info, const ModelRules& rules);

}  // namespace breakwatch
