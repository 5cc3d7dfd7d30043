// Compare: two sets of results, model by model and site by site. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/measure.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::compare {

enum class Verdict {
  kWorse,       // a quantity got worse, there is a new site, or numbers before and none now
  kMixed,       // one quantity got worse, another better
  kGone,        // only in A
  kBetter,      // a quantity got better and none worse; or no numbers before and numbers now
  kNew,         // only in B
  kFlaky,       // it changed, but its results vary from run to run
  kNoBaseline,  // A has nothing to compare with: see `why`
  kSame,        // no quantity changed
};
std::string_view VerdictName(Verdict verdict);  // "worse", "mixed", ..., "no_baseline", "same"

// A quantity that was compared, and which direction of it is worse.
struct Quantity {
  std::string_view name;  // the field of a result: "breaks", "ops_captured", ...
  bool lower_is_better;
};
// "breaks", "break_sites", "frames_fallback", "recompiles": lower is better. "ops_captured": higher is better.
std::span<const Quantity> Quantities();

// A quantity that changed.
struct QuantityChange {
  std::string name;
  std::int64_t a = 0, b = 0;
  bool worse = false;
  bool operator==(const QuantityChange&) const = default;
};

// What a comparison leaves out.
struct Ignored {
  std::set<std::string, std::less<>> quantities{};  // by name
  bool new_sites = false;                           // a new site alone is not worse
  bool latency = false;
  double latency_tolerance = 0;  // share by which a time may change: 0.1 is 10 %
};

// What else differs between compared results: "torch", "transformers", "commit", "depth", ...
struct Difference {
  std::string what, a, b;
  bool operator==(const Difference&) const = default;
  auto operator<=>(const Difference&) const = default;  // NOLINT(modernize-use-nullptr): the compiler's own zero
};

// A break site and its events on either side; 0: the side does not have it.
struct SiteChange {
  BreakSite site;  // from B, or from A if B does not have it
  std::int64_t before = 0, after = 0;
};

// The time of a model with one backend and batch size. Lower is better; only a significant difference that is greater
// than the tolerance counts.
struct LatencyChange {
  std::string backend;
  int batch = 1, seq = 0;
  bool dynamic = false;
  std::optional<MeasuredCell> a, b;  // nullopt: not measured
  std::optional<LatencyDifference> difference;
  bool worse = false, better = false;
};

struct ModelComparison {
  std::string model;
  std::string mode;  // empty: both sides have one mode
  Verdict verdict = Verdict::kSame;
  std::string why;             // if one side has no numbers, kNoBaseline or kFlaky: one line
  std::optional<Status> a, b;  // nullopt: absent
  std::optional<std::int64_t> breaks_a, breaks_b, sites_a, sites_b;
  std::vector<SiteChange> new_sites, gone_sites, changed_sites;  // by site_id: only in B, only in A, other counts
  std::vector<Difference> differences;
  std::vector<QuantityChange> changes;   // in the order of Quantities()
  std::vector<LatencyChange> latencies;  // of measure modes, also those that did not change
};

struct Totals {
  std::int64_t models = 0, clean = 0, broken = 0, without_numbers = 0, events = 0, sites = 0;
  bool operator==(const Totals&) const = default;
};

// Over the compared models only.
struct ReasonChange {
  std::string reason, gb_id;
  std::int64_t events_a = 0, events_b = 0, sites_a = 0, sites_b = 0, models_a = 0, models_b = 0;
};

struct Comparison {
  std::string a, b;                     // what was compared, for people
  std::vector<ModelComparison> models;  // the worst first, then by name
  std::map<Verdict, std::int64_t> verdicts;
  Totals all_a, all_b;                // everything each side has
  Totals compared_a, compared_b;      // models with numbers on both sides that could be compared
  std::vector<ReasonChange> reasons;  // the greatest change of events first
  std::vector<std::pair<Difference, std::int64_t>> differences;  // with the number of models, the most first
};

// A label for people and the results: one for each model and mode.
struct Side {
  std::string label;
  std::span<const ModelResult> results;
};

// The times of two measurements, by batch size and backend.
std::vector<LatencyChange> LatencyChanges(const Measured& a, const Measured& b, double tolerance);
// Why the times of two measurements are not comparable, "threads 1 -> 2"; empty if they are.
std::string MeasuredUnlike(const Measured& a, const Measured& b);
// "inductor with batch 1 3.100 ms -> 4.000 ms (x1.29, p 0.001)".
std::string LatencyText(const LatencyChange& change);

// Removes from a result what no comparison reads or shows: explanations, call stacks, graphs and outputs, which are
// most of it.
void KeepCompared(ModelResult& result);

// How two captures of one model differ, apart from their findings.
std::vector<Difference> DifferencesOf(const ModelResult& a, const ModelResult& b);
// Why the numbers of two captures are not comparable; empty if they are.
std::string NotComparable(const ModelResult& a, const ModelResult& b);

ModelComparison CompareModel(const ModelResult& a, const ModelResult& b, const Ignored& ignored = {});

// A comparison that is made of one pair of results at a time, so that no side is held whole. Thread: one.
class PairComparison {
 public:
  explicit PairComparison(const Ignored& ignored = {}) : ignored_(ignored) {}

  // The results of one model and mode, each pair once, in any order. Null: the side has none; one of them has.
  // `mode`: empty if both sides have one mode.
  void Add(const std::string& mode, const ModelResult* a, const ModelResult* b);
  // The comparison of all pairs. The object is not used after it.
  Comparison Finish(std::string label_a, std::string label_b);

 private:
  void AddCompared(const ModelResult& a, const ModelResult& b, const ModelComparison& compared);

  const Ignored ignored_;
  Comparison out_;
  std::map<std::pair<std::string, std::string>, ReasonChange> reasons_;  // by reason and gb_id
  std::map<Difference, std::int64_t> differences_;
};

// Calls `use` with the results of each model and mode. Results are matched by model and, if a side has several modes,
// by mode. The last of equal ones counts.
using UsePair = std::function<void(const std::string& mode, const ModelResult* a, const ModelResult* b)>;
void EachPair(std::span<const ModelResult> a, std::span<const ModelResult> b, const UsePair& use);

Comparison Compare(const Side& a, const Side& b, const Ignored& ignored = {});

}  // namespace breakwatch::compare
