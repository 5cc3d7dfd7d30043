// Faults: what a recording says shall go wrong (FORMAT.md).
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
  int after = 0;  // answered first
  int times = 1;
  std::optional<int> retry_after_s;
};

struct Quotas {
  int api = 10'000, resolvers = 100'000, pages = 1'000;  // the Hub's largest published plan
  int window_s = 300;
};

struct Faults {
  std::map<std::string, ModelFault> models;
  std::map<std::string, std::set<std::string>> tokens;  // ids each opens
  bool any_token = true;                                // no "tokens": all are good
  Quotas quotas;
  std::optional<Failing> list, resolve;
  bool repeat_across_pages = false;
};

// Error: kInvalid, naming the key.
Result<Faults> ParseFaults(const Json& json);

}  // namespace breakwatch::hub_replay
