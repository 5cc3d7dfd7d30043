// Parts of the history, for readers that take it page by page. A page begins after the place of the row before it, so
// results that are added meanwhile neither repeat nor skip a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch {

// A page ends at the first bound that it reaches; it has at least one row if there is one.
struct PageSize {
  int rows = 100;
  std::size_t bytes = 8u << 20;  // of stored documents
};

struct PlacedResult {
  std::int64_t place = 0;
  ModelResult result;
};

struct PlanPage {
  Plan plan;  // the models of this page, without their configurations
  std::vector<std::int64_t> places;
  std::map<std::string, std::int64_t> actions;  // of the whole plan, by name
};

// A break site as the store can search it.
struct SitePlace {
  std::string site_id, reason, gb_id, fixability, file, function;
  int line = 0;
  std::int64_t occurrences = 0;
};

}  // namespace breakwatch
