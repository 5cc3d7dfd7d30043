// Lists models without the Hub, from the cache.
#pragma once

#include <vector>

#include "breakwatch/core/model_lister.h"
#include "cache.h"

namespace breakwatch::hub {

// The cached models that match the request's author and search, by id, at most `top`; other filters need the Hub.
std::vector<ModelInfo> ListCached(const HubCache& cache, const ListRequest& request);

}  // namespace breakwatch::hub
