// The ranked list, page by page.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "breakwatch/core/model_lister.h"
#include "families.h"
#include "hub_client.h"
#include "listed_model.h"

namespace breakwatch::hub {

// The fields asked for with `expand`, ready to be appended to a query.
const std::string& ExpandQuery();

// Path and query of the first page. `task` replaces the request's own when it is not empty.
std::string ListPath(const ListRequest& request, const std::string& sort_key, const std::string& task, int page_size);

struct Listing {
  std::vector<ListedModel> models;  // best first, no duplicates, cut and ranked
  std::vector<std::string> warnings;
};

// Overall: pages in the Hub's order until `top` models are had. Per family: one listing for each pipeline tag, all at
// once, merged by the sort key; models without a tag are not seen by it. Error: kUnavailable when the list cannot be
// had or ends early with less than nine tenths of what was asked for; kUsage for a bad sort key.
Result<Listing> FetchListing(const ListRequest& request, const HubOptions& options, const FamilyTable& families,
                             HubClient& client, std::stop_token stop);

}  // namespace breakwatch::hub
