// ListedModel: one entry of a listing, before it is resolved.
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
  // Sort keys beside downloads and likes; times as the Hub writes them, which order as text.
  std::optional<double> trending_score;
  std::string created_at, last_modified;
};

// Reads an entry of the listing or an info body, of any year. Error: kInvalid when it has no usable id.
Result<ListedModel> ReadListedModel(const Json& body, const FamilyTable& families);

// What a configuration (the Hub's extract or the file itself) says of its model; keeps what it does not say.
void TakeConfigFields(const Json& config, ModelInfo& info);

}  // namespace breakwatch::hub
