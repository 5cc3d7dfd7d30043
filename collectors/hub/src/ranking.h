// The rules of a ranked list that do not depend on where the models come from.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/model_lister.h"
#include "listed_model.h"

namespace breakwatch::hub {

// The Hub's spelling of a sort key, from it or from the Python client's. Error: kUsage with the nearest name.
Result<std::string> SortKey(const std::string& name);

// As the Hub does: by the sort key, highest first, models without it last; equal ones by "_id", or by id without one.
void SortModels(std::vector<ListedModel>& models, const std::string& sort_key);

// Keeps the first of several entries with one "_id" (or, without one, one id); says how many went.
int RemoveDuplicates(std::vector<ListedModel>& models);

// The first `request.top`, overall or of each family, in their order and with ranks from 1.
std::vector<ListedModel> TakeTop(std::vector<ListedModel> models, const ListRequest& request);

// The filters that the Hub applies to a listing, for sources without a server. Models of unknown size pass.
bool Matches(const ListedModel& model, const ListRequest& request);

}  // namespace breakwatch::hub
