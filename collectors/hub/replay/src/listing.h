// Listing: computes GET /api/models from the recorded bodies and the query.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cursor.h"
#include "http_values.h"
#include "json_file.h"

namespace breakwatch::hub_replay {

struct ListQuery {
  std::vector<std::string> search, filters, providers;  // all must match
  std::string author, pipeline_tag, library, inference;
  std::optional<bool> gated;
  std::optional<double> min_params, max_params;
  std::string sort = "trendingScore";
  std::size_t limit = 1000, skip = 0;
  std::string cursor;
  bool full = false, config = false, card_data = false;
  std::vector<std::string> expand;
};

// Ignores unknown names, including `direction`. Error: kInvalid with the text of the Hub's 400.
Result<ListQuery> ParseListQuery(const Pairs& query);

// Checks the names in `expand`. Error: kInvalid with the Hub's list of valid names.
Result<void> CheckExpand(const std::vector<std::string>& expand);
// Values of "expand" and "expand[]".
std::vector<std::string> ExpandOf(const Pairs& query);
// `_id`, `id` and the requested fields, if the body has them.
Json Expanded(const Json& body, const std::vector<std::string>& expand);

bool Matches(const Json& body, const ListQuery& query);

struct Page {
  std::vector<const Json*> models;
  std::optional<std::string> next_cursor;  // nullopt on the last page
};

// The page of `models` (all bodies) for the query. With `repeat_last`, a page begins with the last model of the
// previous page. Error: kInvalid for a cursor that does not belong to this query.
Result<Page> MakePage(const std::vector<const Json*>& models, const ListQuery& query, bool repeat_last);
// A model as this listing shows it.
Json Shown(const Json& body, const ListQuery& query);

}  // namespace breakwatch::hub_replay
