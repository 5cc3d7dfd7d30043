// JSON documents of the API, made from a snapshot.
#pragma once

#include <cstddef>
#include <string>

#include "breakwatch/core/result.h"
#include "breakwatch/core/snapshot.h"

namespace breakwatch::api {

struct ModelFilter {
  std::string family, reason, gb_id, status;  // empty: all
  std::size_t limit = 0;                      // 0: all
};

// {"toolchain", "models_tracked", "models_with_numbers", "models": [...]}, ordered by rank, then id.
std::string ModelsDocument(const Snapshot& snapshot, const ModelFilter& filter);
// {"reasons": [{reason, gb_id, fixability, url, events, sites, models, leverage}]}, most events first.
std::string ReasonsDocument(const Snapshot& snapshot);
// {"error": {"code", "message"}}
std::string ErrorDocument(const Error& error);
// With the code for the HTTP status.
std::string ErrorDocument(int status, const std::string& message);

}  // namespace breakwatch::api
