// Listing: GET /api/models as a function of the recorded bodies and the query.
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

// Unknown names are ignored, `direction` among them. Error: kInvalid, with the text of the Hub's 400.
Result<ListQuery> ParseListQuery(const Pairs& query);

// The names `expand` takes, and the text that says so. Error: kInvalid.
Result<void> CheckExpand(const std::vector<std::string>& expand);
// Values of "expand" and "expand[]".
std::vector<std::string> ExpandOf(const Pairs& query);
// `_id`, `id` and exactly the asked fields, as far as the body has them.
Json Expanded(const Json& body, const std::vector<std::string>& expand);

bool Matches(const Json& body, const ListQuery& query);

struct Page {
  std::vector<const Json*> models;
  std::optional<std::string> next_cursor;  // nothing on the last page
};

// The page of `models` (all bodies there are) that the query names. With `repeat_last` a page begins with the last
// model of the page before. Error: kInvalid for a cursor that is not one of this query.
Result<Page> MakePage(const std::vector<const Json*>& models, const ListQuery& query, bool repeat_last);
// A model as this listing shows it.
Json Shown(const Json& body, const ListQuery& query);

}  // namespace breakwatch::hub_replay
