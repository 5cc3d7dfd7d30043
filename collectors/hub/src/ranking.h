// The rules of a ranked list that do not depend on the source of the models.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/model_lister.h"
#include "listed_model.h"

namespace breakwatch::hub {

// Converts a sort key of the Hub or of the Python client to the Hub's spelling. Error: kUsage with the most similar
// name.
Result<std::string> SortKey(const std::string& name);

// Sorts as the Hub does: by the sort key, highest first, models without it last. Ties are sorted by "_id", or by id
// without one.
void SortModels(std::vector<ListedModel>& models, const std::string& sort_key);

// Keeps the first of several entries with the same "_id" (or id, if there is no "_id"). Returns how many were removed.
int RemoveDuplicates(std::vector<ListedModel>& models);

// The first `request.top`, overall or of each family, in their order and with ranks from 1.
std::vector<ListedModel> TakeTop(std::vector<ListedModel> models, const ListRequest& request);

// The filters that the Hub applies to a listing, for other sources. Models of unknown size match.
bool Matches(const ListedModel& model, const ListRequest& request);

}  // namespace breakwatch::hub
