#include "site_index.h"

#include <set>
#include <utility>

namespace breakwatch::api {

Result<void> SiteIndex::Read(const Snapshot& snapshot) {
  std::set<std::string> wanted;
  for (const TrackedModel& model : snapshot.models) {
    const Numbers* numbers = snapshot.NumbersOf(model);
    if (numbers != nullptr && !numbers->reasons.empty()) wanted.insert(numbers->capture_id);
  }
  std::erase_if(sites_, [&](const auto& kept) { return !wanted.contains(kept.first); });
  std::vector<std::string> missing;
  for (const std::string& capture : wanted) {
    if (!sites_.contains(capture)) missing.push_back(capture);
  }
  if (missing.empty()) return {};
  auto read = queries_.SitesOf(missing);
  if (!read) return read.error();
  for (const std::string& capture : missing) {
    sites_[capture] = std::make_shared<const std::vector<SitePlace>>(std::move((*read)[capture]));
  }
  return {};
}

}  // namespace breakwatch::api
