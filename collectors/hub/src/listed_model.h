// ListedModel: one entry of a listing, before its configuration is resolved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/model.h"
#include "families.h"
#include "json_values.h"

namespace breakwatch::hub {

struct ListedModel {
  ModelInfo info;
  std::vector<std::string> tags;
  // Sort keys besides downloads and likes. The Hub's times sort correctly as text.
  std::optional<double> trending_score;
  std::string created_at, last_modified;
};

// Reads an entry of a listing or an info body, in old and new formats. Error: kInvalid without a usable id.
Result<ListedModel> ReadListedModel(const Json& body, const FamilyTable& families);

// Takes fields from a configuration (the Hub's extract or the file). Missing fields keep their values.
void TakeConfigFields(const Json& config, ModelInfo& info);

}  // namespace breakwatch::hub
