// AllowList: breaks that the gate accepts for a while, and models whose results vary from run to run.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace breakwatch {

// One entry. It has an owner and an end, so that it is not forgotten.
struct AllowEntry {
  enum class Of { kModel, kSite, kReason };
  Of of = Of::kModel;
  std::string value;   // a model's id, a site_id, or a gb_id or reason
  bool flaky = false;  // a model whose results vary: its changes never fail the gate
  std::string owner, why;
  std::chrono::year_month_day expires{};  // the last day on which it applies
  std::string place;                      // "allow.yaml:3"
};

// "model org/name", "site 3f9a1c2b", "reason GB0170".
std::string Describe(const AllowEntry& entry);

struct AllowList {
  std::string path;  // empty: there is none
  std::vector<AllowEntry> entries;
};

}  // namespace breakwatch
