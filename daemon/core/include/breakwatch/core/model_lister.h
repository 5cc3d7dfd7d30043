// ModelLister: the interface to the sources of models.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "breakwatch/core/model.h"
#include "breakwatch/core/result.h"

namespace breakwatch {

struct ListRequest {
  // By rank (used when `ids` is empty).
  int top = 30;
  bool per_family = false;         // `top` of each family instead of overall
  std::string sort = "downloads";  // one of AllSorts (choices.h)
  std::vector<std::string> filters;
  std::string author, search, task, library;
  std::optional<bool> gated;
  std::optional<std::int64_t> min_params, max_params;  // outside: skipped_too_large or skipped_filtered
  // By name: "id" or "id@revision". Not ranked.
  std::vector<std::string> ids;
  // A ModelFilter without @FILE: of the models listed by rank, only those that match are planned; then the list is not
  // ranked. Empty: all. Applied by the planner, not by the lister: it may need what is stored of a model.
  std::string select;

  bool operator==(const ListRequest&) const = default;
};

// Owner: the wiring. Thread: one call at a time, on the lister thread.
// Error: kUnavailable if the listing itself fails; a model that cannot be resolved is an
// excluded entry, not an error. kInterrupted after a stop request.
class ModelLister {
 public:
  using Progress = std::function<void(int done, int total)>;  // configs resolved so far

  virtual ~ModelLister() = default;
  virtual Result<RankedList> List(const ListRequest& request, std::stop_token stop, const Progress& progress) = 0;
};

}  // namespace breakwatch
