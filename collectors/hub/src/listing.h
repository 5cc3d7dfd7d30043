// Fetches the ranked list, page by page.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "breakwatch/core/model_lister.h"
#include "families.h"
#include "hub_client.h"
#include "listed_model.h"

namespace breakwatch::hub {

// The fields for `expand`, as the text to append to a query.
const std::string& ExpandQuery();

// The path and query of the first page. A non-empty `task` replaces the request's own.
std::string ListPath(const ListRequest& request, const std::string& sort_key, const std::string& task, int page_size);

struct Listing {
  std::vector<ListedModel> models;  // best first, no duplicates, cut and ranked
  std::vector<std::string> warnings;
};

// Overall: pages in the Hub's order until `top` models were read. Per family: one listing for each pipeline tag, in
// parallel, merged by the sort key; it does not include models without a tag. Error: kUnavailable if the list cannot be
// read, or ends early with less than nine tenths of the request; kUsage for an invalid sort key.
Result<Listing> FetchListing(const ListRequest& request, const HubOptions& options, const FamilyTable& families,
                             HubClient& client, std::stop_token stop);

}  // namespace breakwatch::hub
