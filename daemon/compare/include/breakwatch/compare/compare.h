// Compare: two sets of results, model by model and site by site. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::compare {

enum class Verdict {
  kWorse,          // more breaks, or as many at more sites; or numbers before and a failure, time-out or crash now
  kBetter,         // the reverse
  kNotComparable,  // one side has no numbers, or they are of different things: see `why`
  kNew,            // only in B
  kGone,           // only in A
  kSame,           // the same counts of breaks and sites; the sites may differ
};
std::string_view VerdictName(Verdict verdict);  // "worse", "better", "not_comparable", "new", "gone", "same"

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

struct ModelComparison {
  std::string model;
  Verdict verdict = Verdict::kSame;
  std::string why;             // if one side has no numbers, or kNotComparable: one line
  std::optional<Status> a, b;  // nullopt: absent
  std::optional<std::int64_t> breaks_a, breaks_b, sites_a, sites_b;
  std::vector<SiteChange> new_sites, gone_sites, changed_sites;  // by site_id: only in B, only in A, other counts
  std::vector<Difference> differences;
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

// A label for people and the results: one a model, of one mode.
struct Side {
  std::string label;
  std::span<const ModelResult> results;
};

// How two captures of one model differ, apart from their findings.
std::vector<Difference> DifferencesOf(const ModelResult& a, const ModelResult& b);
// Why the breaks of two captures are not comparable; empty if they are.
std::string NotComparable(const ModelResult& a, const ModelResult& b);

ModelComparison CompareModel(const ModelResult& a, const ModelResult& b);
// If one side has several results of a model, the last one counts.
Comparison Compare(const Side& a, const Side& b);

}  // namespace breakwatch::compare
