// Snapshot: the complete published state at one moment. Immutable, passed by shared pointer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/clock.h"
#include "breakwatch/core/family.h"
#include "breakwatch/core/fix_effects.h"
#include "breakwatch/core/status.h"
#include "breakwatch/core/worker_counts.h"

namespace breakwatch {

// Breaks of one reason in one capture.
struct ReasonCount {
  std::string reason, gb_id, fixability;
  std::int64_t events = 0, sites = 0;
  bool operator==(const ReasonCount&) const = default;
};

// The numbers of a model's newest successful capture by one toolchain at the model's current commit.
struct Numbers {
  std::string commit, capture_id, structure, sweep_id;
  SystemTime captured_at{};
  std::int64_t graphs = 0, ops_captured = 0, frames_fallback = 0, recompiles = 0, dynamo_counter_breaks = 0,
               explain_breaks = 0;
  std::vector<ReasonCount> reasons;  // ordered by (reason, gb_id); empty for a clean model
  std::map<std::string, double> phase_s;
  bool operator==(const Numbers&) const = default;
};

// How the last attempt by one toolchain and mode ended.
struct Attempt {
  Status status = Status::kNotAttempted;
  std::string commit;  // may be empty
  bool operator==(const Attempt&) const = default;
};

// What one backend needed in the newest profile or benchmark.
struct BackendTimes {
  std::string backend;
  std::map<std::string, double> latency_s;  // by quantile: "0.5", "0.9", "0.95", "0.99"
  std::optional<double> compile_s;
  bool operator==(const BackendTimes&) const = default;
};
// The numbers of a model's newest measurement in one mode by one toolchain at its current commit: the first batch size.
struct Measurement {
  std::string commit, capture_id;
  SystemTime measured_at{};
  std::vector<BackendTimes> backends;
  std::optional<double> graphs_share;  // of a run with inductor (without it: eager); profiles only
  bool operator==(const Measurement&) const = default;
};

// The key of numbers: the toolchain's Key() in the main mode, else followed by "/MODE".
std::string NumbersKey(const std::string& toolchain_key, std::string_view mode);

// The current state of one model: a row of the store's `current`. Published while `tracked`.
struct TrackedModel {
  std::string model;
  bool tracked = false;  // member of the tracked set; rows of other models wait for their sweep to complete
  Family family = Family::kUnknown;
  std::string commit;  // the newest commit known
  int rank = 0;        // 0: never ranked
  std::optional<std::int64_t> downloads;
  bool in_ranking = false;
  bool pinned = false;                            // added with --track: never leaves
  bool imported = false;                          // known only from imported traces
  int sweeps_unranked = 0;                        // complete ranked sweeps since it left the ranking
  Status status = Status::kNotAttempted;          // of the last attempt by the primary toolchain in the main mode
  std::string status_commit;                      // commit of that attempt; may be empty
  std::string detail, suggestion;                 // the suggestion may be empty
  SystemTime attempted_at{};                      // by any toolchain, in any mode
  std::map<std::string, Attempt> attempts;        // by NumbersKey
  std::map<std::string, Numbers> numbers;         // by NumbersKey
  std::map<std::string, Measurement> measured{};  // by NumbersKey, of modes profile and bench
  std::map<std::string, FixEffects> fixes{};      // by Toolchain::Key(), of the commit above
  bool operator==(const TrackedModel&) const = default;
};

// Models, shared with the lists that they were copied from: a copy of a list costs two words for each model, and a
// model is never changed while another list has it.
class ModelList {
 public:
  using Pointer = std::shared_ptr<const TrackedModel>;

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = TrackedModel;
    using pointer = const TrackedModel*;
    using reference = const TrackedModel&;
    using iterator_category = std::forward_iterator_tag;

    Iterator() = default;
    explicit Iterator(const Pointer* at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const Pointer* at_ = nullptr;
  };

  ModelList() = default;
  ModelList(std::initializer_list<TrackedModel> models) : ModelList(models.begin(), models.end()) {}
  template <class Input>
  ModelList(Input begin, Input end) {
    for (; begin != end; ++begin) push_back(*begin);
  }

  void push_back(TrackedModel model) { models_.push_back(std::make_shared<const TrackedModel>(std::move(model))); }
  void push_back(Pointer model) { models_.push_back(std::move(model)); }
  void pop_back() { models_.pop_back(); }
  void reserve(std::size_t size) { models_.reserve(size); }

  std::size_t size() const { return models_.size(); }
  bool empty() const { return models_.empty(); }
  Iterator begin() const { return Iterator(models_.data()); }
  Iterator end() const { return Iterator(models_.data() + models_.size()); }
  const TrackedModel& operator[](std::size_t place) const { return *models_[place]; }
  const TrackedModel& at(std::size_t place) const { return *models_.at(place); }
  const TrackedModel& front() const { return *models_.front(); }
  const TrackedModel& back() const { return *models_.back(); }
  const std::vector<Pointer>& shared() const { return models_; }
  // A copy of this list alone, to be changed.
  TrackedModel& Own(std::size_t place) {
    auto own = std::make_shared<TrackedModel>(*models_.at(place));
    models_[place] = own;
    return *own;
  }
  friend bool operator==(const ModelList& a, const ModelList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::vector<Pointer> models_;
};

// Which of the series are published.
struct MetricChoice {
  std::vector<std::string> drop{};  // names of metrics that are not
  bool phases = true;               // false: no duration by phase
};

struct ReasonInfo {
  std::string reason, gb_id;
  std::string fixability;  // measured on most of its models: fixability.h
  std::string url;
  std::int64_t leverage = 0;  // models whose breaks all have this reason
  std::string category{};     // Dynamo's: BreakSite::fixability
};

struct SweepSummary {
  std::string sweep_id;
  SystemTime last_success{};                   // end of the newest complete sweep; epoch when none
  std::chrono::milliseconds duration{};        // of the newest finished sweep
  std::map<std::string, std::int64_t> models;  // by status, newest finished sweep
  std::int64_t depth_mismatches = 0;
  SystemTime last_failure{};         // the newest sweep that failed or ended incomplete; epoch when none
  std::chrono::seconds interval{0};  // the configured time between sweeps; 0: none
  SystemTime next_due{};             // when the daemon starts its next sweep by itself; epoch: never
};

struct DeliveryStats {
  std::string exporter;
  std::int64_t attempts = 0, failures = 0, events_pending = 0, dead_letters = 0;
  std::chrono::milliseconds oldest_age{};  // of the oldest pending event
  SystemTime last_success{};
  bool paused = false;        // the target refuses every event: none is lost, they are retried
  SystemTime oldest_at{};     // time of the oldest pending event; epoch when none
  SystemTime last_failure{};  // the target did not accept an export; not an event refused alone, a dead letter
};

struct Snapshot {
  SystemTime taken_at{};
  std::string toolchain_key;          // whose numbers are published
  std::vector<Toolchain> toolchains;  // the newest last
  std::string sandbox;                // of the primary toolchain's captures: SandboxState::used; may be empty
  std::vector<std::string> extra;     // NAME or NAME/MODE: further toolchains to publish
  MetricChoice metrics;
  ModelList models;                 // the tracked ones, ordered by model id
  std::vector<ReasonInfo> reasons;  // ordered by (reason, gb_id)
  SweepSummary sweep;
  std::map<std::pair<std::string, std::string>, std::int64_t> artifacts{};  // numbers by target and Artifact::State()
  // Only if the process has no /metrics of its own.
  std::vector<DeliveryStats> delivery;
  WorkersOfAll workers;

  // The published numbers of a model, or null.
  const Numbers* NumbersOf(const TrackedModel& model) const;
  // The fixes that the published toolchain tried on a model, or null.
  const FixEffects* FixesOf(const TrackedModel& model) const;
  // The newest measurement in one of these modes by the published toolchain, or null.
  const Measurement* MeasurementOf(const TrackedModel& model, std::span<const std::string_view> modes) const;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace breakwatch
