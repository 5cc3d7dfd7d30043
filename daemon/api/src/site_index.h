// SiteIndex: the sites of the captures that the snapshot publishes, kept in memory. A capture never changes, so each is
// read once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "breakwatch/api/queries.h"
#include "breakwatch/core/snapshot.h"

namespace breakwatch::api {

// A site in the capture of a model.
struct SiteUse {
  const TrackedModel* model = nullptr;
  const Numbers* numbers = nullptr;
  const SitePlace* place = nullptr;
};

// The uses of a snapshot, by site. The pointers are valid while the snapshot and this exist.
struct SiteUses {
  std::map<std::string, std::vector<SiteUse>> by_site;
  std::vector<std::shared_ptr<const std::vector<SitePlace>>> kept{};
};

// Thread: any.
class SiteIndex {
 public:
  explicit SiteIndex(Queries& queries) : queries_(queries) {}

  // The sites of models for which `matches` is true.
  template <class Matches>
  Result<SiteUses> Of(const Snapshot& snapshot, const Matches& matches) {
    SiteUses uses;
    const std::lock_guard lock(mutex_);
    if (auto read = Read(snapshot); !read) return read.error();
    for (const TrackedModel& model : snapshot.models) {
      const Numbers* numbers = snapshot.NumbersOf(model);
      const auto capture = numbers == nullptr ? sites_.end() : sites_.find(numbers->capture_id);
      if (capture == sites_.end() || !matches(model)) continue;
      uses.kept.push_back(capture->second);
      for (const SitePlace& place : *capture->second) uses.by_site[place.site_id].push_back({&model, numbers, &place});
    }
    return uses;
  }

 private:
  // Reads what the snapshot has and is not kept, and forgets what it no longer has. The mutex is held.
  Result<void> Read(const Snapshot& snapshot);

  Queries& queries_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const std::vector<SitePlace>>> sites_;  // by capture
};

}  // namespace breakwatch::api
