// Admission: which capture starts next: the longest first, so that no core is idle at the end, and only what fits into
// memory beside those that run. Pure but for the question how much memory is left.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/plan.h"
#include "breakwatch/store/store.h"

namespace breakwatch::engine {

// What a capture will probably take.
struct Expected {
  double seconds = 0;
  std::int64_t bytes = 0;  // of resident memory, at its peak
};

// What was measured before, by name.
using CostsByName = std::map<std::string, store::CaptureCost>;
struct KnownCosts {
  CostsByName structures, classes, model_types;
};

// For each entry of a plan: as its structure took before, else its class, else its model type, else by its parameters.
// `costs`: by mode.
std::vector<Expected> ExpectCosts(const Plan& plan, const std::map<std::string, KnownCosts>& costs);

class Admission {
 public:
  using Available = std::function<std::optional<std::int64_t>()>;  // bytes; may be empty: unbounded

  // `bound`: bytes of memory for all captures together; 0: what was available when nothing ran.
  Admission(std::int64_t bound, Available available) : bound_(bound), available_(std::move(available)) {}
  void Expect(std::vector<Expected> expected) { expected_ = std::move(expected); }

  // Orders entries of the plan by expected time, longest first; equals keep their order.
  void Sort(std::deque<std::size_t>& waiting) const;
  // The place in `waiting` of the first that fits beside what runs; nullopt: none does. One always fits where nothing
  // runs, however large it is.
  std::optional<std::size_t> Next(const std::deque<std::size_t>& waiting);
  void Started(std::size_t entry) { running_ += Bytes(entry), ++captures_; }
  void Ended(std::size_t entry) { running_ -= Bytes(entry), --captures_; }

 private:
  std::int64_t Bytes(std::size_t entry) const { return entry < expected_.size() ? expected_[entry].bytes : 0; }
  std::optional<std::int64_t> Ask() const { return available_ ? available_() : std::nullopt; }

  const std::int64_t bound_;
  const Available available_;
  std::vector<Expected> expected_;  // by place in the plan
  std::optional<std::int64_t> total_;
  std::int64_t running_ = 0;
  int captures_ = 0;
};

}  // namespace breakwatch::engine
