// Gate: decides whether a comparison fails a build, with an allow-list of accepted breaks. Pure.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/compare/compare.h"
#include "breakwatch/core/allow_list.h"

namespace breakwatch::compare {

struct GateRules {
  Ignored ignored;
  bool ignore_gone = false;  // models that only A has do not fail
  AllowList allowed;
  std::chrono::year_month_day today{};  // UTC
};

// A model that fails the gate, or a model whose change an entry of the allow-list covers.
struct GateFinding {
  std::string model, mode;  // the mode is empty if each side has only one
  Verdict verdict = Verdict::kSame;
  std::string text;   // what changed: "breaks 3 -> 4, 1 new site"
  std::string entry;  // the entry that covers it: "model org/name, owner team, until 2027-01-31"; empty: none
  std::vector<std::string> new_sites{};  // site ids
};

struct GateDecision {
  bool failed = false;
  bool no_baseline = false;           // A is empty: the first build. Never failed
  std::vector<GateFinding> failures;  // worse, mixed, and gone models that had numbers
  std::vector<GateFinding> allowed;   // the same, but covered by the allow-list
  std::vector<GateFinding> improved;  // better
  std::vector<std::string> expired;   // entries past their date; each fails the gate and names its owner
  std::vector<std::string> unused;    // entries that cover nothing
  std::map<std::string, std::string> allowed_sites{};  // of B: the entry that covers each, by site id
  std::string with_numbers;                            // "27 of 30 -> 28 of 30 models have numbers"
};

struct Gated {
  Comparison comparison;
  GateDecision gate;
};

// Compares and decides, one pair of results at a time. Sites and reasons of the allow-list are left out of both sides;
// breaks without a known site are kept. If the allowed sites of a result changed, its captured operations,
// recompilations and fallbacks are not compared. A change of a flaky model is neither worse nor better. An expired
// entry covers nothing. Thread: one. `rules` outlive it.
class GatedPairs {
 public:
  explicit GatedPairs(const GateRules& rules);
  ~GatedPairs();

  // Only before the first pair, and only for an A without texts of reasons, as a baseline is: they come from a site of
  // B with the same id, or else with the same gb_id.
  void NameReasonsBy(const ModelResult& b);
  // As PairComparison::Add.
  void Add(const std::string& mode, const ModelResult* a, const ModelResult* b);
  // The object is not used after it.
  Gated Finish(std::string label_a, std::string label_b);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The same for two sides that are held.
Gated CompareWithGate(const Side& a, const Side& b, const GateRules& rules);

}  // namespace breakwatch::compare
