#include "offline.h"

#include "ranking.h"

namespace breakwatch::hub {

std::vector<ModelInfo> ListCached(const HubCache& cache, const ListRequest& request) {
  ListRequest by_name;
  by_name.author = request.author;
  by_name.search = request.search;
  std::vector<ModelInfo> infos;
  for (const CachedModel& cached : cache.Models()) {
    if (static_cast<int>(infos.size()) >= request.top) break;
    ListedModel model;
    model.info.id = cached.id;
    model.info.sha = cached.sha;
    if (Matches(model, by_name)) infos.push_back(std::move(model.info));
  }
  return infos;
}

}  // namespace breakwatch::hub
