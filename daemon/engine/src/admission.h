// Admission: chooses the next capture to start. It takes the longest first, so that no core is idle at the end, and
// only captures that fit into memory. It has no side effects except the query of available memory.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/plan.h"
#include "breakwatch/store/sweep_store.h"

namespace breakwatch::engine {

// The estimated cost of a capture.
struct Expected {
  double seconds = 0;
  std::int64_t bytes = 0;  // peak resident memory
};

// Measured costs, by name.
using CostsByName = std::map<std::string, store::CaptureCost>;
struct KnownCosts {
  CostsByName structures, classes, model_types;
};

// Estimates each entry of a plan from the costs of its structure, otherwise of its class, model type or parameter
// count. `costs`: by mode.
std::vector<Expected> ExpectCosts(const Plan& plan, const std::map<std::string, KnownCosts>& costs);

class Admission {
 public:
  using Available = std::function<std::optional<std::int64_t>()>;  // bytes; may be empty: no limit

  // `bound`: memory for all captures together, in bytes; 0: the memory that was available when nothing ran.
  Admission(std::int64_t bound, Available available) : bound_(bound), available_(std::move(available)) {}
  void Expect(std::vector<Expected> expected) { expected_ = std::move(expected); }

  // Sorts entries of the plan by expected time, longest first. The sort is stable.
  void Sort(std::deque<std::size_t>& waiting) const;
  // The position in `waiting` of the first capture that fits beside the running ones; nullopt if none fits. If nothing
  // runs, the first one always fits.
  std::optional<std::size_t> Next(const std::deque<std::size_t>& waiting);
  void Started(std::size_t entry) { running_ += Bytes(entry), ++captures_; }
  void Ended(std::size_t entry) { running_ -= Bytes(entry), --captures_; }

 private:
  std::int64_t Bytes(std::size_t entry) const { return entry < expected_.size() ? expected_[entry].bytes : 0; }
  std::optional<std::int64_t> Ask() const { return available_ ? available_() : std::nullopt; }

  const std::int64_t bound_;
  const Available available_;
  std::vector<Expected> expected_;  // by position in the plan
  std::optional<std::int64_t> total_;
  std::int64_t running_ = 0;
  int captures_ = 0;
};

}  // namespace breakwatch::engine
