#include "breakwatch/hub/hub_lister.h"

#include <algorithm>

#include "cache.h"
#include "families.h"
#include "hub_client.h"
#include "listing.h"
#include "offline.h"
#include "resolver.h"
#include "url.h"

namespace breakwatch::hub {
namespace {

class HubLister : public ModelLister {
 public:
  HubLister(HubOptions options, const Clock& clock) : options_(std::move(options)), clock_(clock) {
    while (options_.endpoint.ends_with('/')) options_.endpoint.pop_back();
    options_.concurrency = std::max(1, options_.concurrency);
    options_.tries = std::max(1, options_.tries);
  }

  Result<RankedList> List(const ListRequest& request, std::stop_token stop, const Progress& progress) override {
    const Result<FamilyTable> families = FamilyTable::Load(options_.families_file);
    if (!families) return families.error();
    const HubCache cache(options_.cache_dir, options_.max_config_bytes);
    if (options_.offline) return ListOffline(request, *families, cache, progress);
    if (Origin(options_.endpoint).empty()) {
      return Error{ErrorCode::kConfig, "the Hub's endpoint is not an http or https URL: " + options_.endpoint};
    }
    HubClient client(options_, clock_);
    Resolver resolver(request, options_, *families, cache, &client, progress);
    RankedList list{.source = "hub " + options_.endpoint, .ranked = request.ids.empty(), .models = {}, .warnings = {}};
    if (list.ranked) {
      Result<Listing> listing = FetchListing(request, options_, *families, client, stop);
      if (!listing) return WithoutToken(client, listing.error());
      list.warnings = std::move(listing->warnings);
      for (ListedModel& model : listing->models) resolver.AddListed(std::move(model.info));
    }
    for (const std::string& id : request.ids) resolver.AddNamed(id);
    resolver.Start();
    if (Result<void> ran = client.Run(stop); !ran) return ran.error();
    if (resolver.FailedWholly()) return WithoutToken(client, *resolver.outage());
    list.models = resolver.TakeModels(list.warnings);
    list.warnings.insert(list.warnings.end(), client.warnings().begin(), client.warnings().end());
    return list;
  }

 private:
  Error WithoutToken(const HubClient& client, Error error) const {
    error.message = "the Hub at " + options_.endpoint + ": " + client.WithoutToken(std::move(error.message));
    return error;
  }

  Result<RankedList> ListOffline(const ListRequest& request, const FamilyTable& families, const HubCache& cache,
                                 const Progress& progress) const {
    Resolver resolver(request, options_, families, cache, nullptr, progress);
    RankedList list{.source = "hub offline " + options_.cache_dir, .ranked = false, .models = {}, .warnings = {}};
    if (request.ids.empty()) {
      list.warnings.push_back("offline: these are the cached models, not a ranking");
      for (ModelInfo& info : ListCached(cache, request)) resolver.AddListed(std::move(info));
    }
    for (const std::string& id : request.ids) resolver.AddNamed(id);
    resolver.Start();
    list.models = resolver.TakeModels(list.warnings);
    if (list.models.empty()) {
      return Error{ErrorCode::kUnavailable, "offline, and the cache at " + options_.cache_dir + " contains no model"};
    }
    return list;
  }

  HubOptions options_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<ModelLister> MakeHubLister(HubOptions options, const Clock& clock) {
  return std::make_unique<HubLister>(std::move(options), clock);
}

}  // namespace breakwatch::hub
