// Faults: the failures that a recording configures (FORMAT.md).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "json_file.h"

namespace breakwatch::hub_replay {

enum class ModelFault { kGated, kDisabled, kMissing, kPrivate };

struct Failing {
  int status = 503;
  int after = 0;  // requests answered before the fault
  int times = 1;
  std::optional<int> retry_after_s;
};

struct Quotas {
  int api = 10'000, resolvers = 100'000, pages = 1'000;  // the Hub's largest published plan
  int window_s = 300;
};

struct Faults {
  std::map<std::string, ModelFault> models;
  std::map<std::string, std::set<std::string>> tokens;  // the ids that each token gives access to
  bool any_token = true;                                // no "tokens" configured: every token is valid
  Quotas quotas;
  std::optional<Failing> list, resolve;
  bool repeat_across_pages = false;
};

// Error: kInvalid with the key.
Result<Faults> ParseFaults(const Json& json);

}  // namespace breakwatch::hub_replay
