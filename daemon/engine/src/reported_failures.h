// ReportedFailures: which failures in a row an operator hears of.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "breakwatch/core/exporters.h"

namespace breakwatch::engine {

// The first, and each different one that a person must fix: a server that was down may come back with another password.
// Make a new object when a delivery works again.
class ReportedFailures {
 public:
  bool IsNews(const Outcome& failure) {
    const bool known = std::ranges::find(texts_, failure.detail) != texts_.end();
    if (known || (!texts_.empty() && !failure.needs_person) || texts_.size() >= kMost) return false;
    texts_.push_back(failure.detail);
    return true;
  }

 private:
  static constexpr std::size_t kMost = 4;  // some answers have a text that differs each time
  std::vector<std::string> texts_;
};

}  // namespace breakwatch::engine
