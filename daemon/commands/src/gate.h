// The gate of `sweep --gate` and `compare`: baseline, allow-list and rules from files and flags.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/commands/app.h"
#include "breakwatch/compare/gate.h"

namespace breakwatch::commands {

inline constexpr char kDefaultBaseline[] = "breakwatch-baseline.tsv";

struct GateOptions {
  std::string baseline;             // path; empty: none
  std::string allow;                // path; empty: AllowListBeside(baseline), if that file exists
  std::vector<std::string> ignore;  // names of IgnorableNames()
  double latency_tolerance = 0;     // percent
};

// "gate.tsv" -> "gate.allow.yaml".
std::string AllowListBeside(const std::string& baseline);

// "new-sites", "gone", "latency" and the names of compare::Quantities().
std::vector<std::string> IgnorableNames();

// Error: kConfig or kStore, of the allow-list.
Result<compare::GateRules> RulesOf(const App& app, const GateOptions& options);

// nullopt: the file does not exist. Error: kConfig or kStore.
Result<std::optional<std::vector<ModelResult>>> ReadBaseline(const std::string& path);

// Whether the files can be read, before a sweep costs time. Error: kUsage, kConfig or kStore.
Result<void> CheckGate(const App& app, const GateOptions& options);

// The lines of a baseline that a sweep's results can be compared with: those of its modes; for a sweep that took models
// by name, also those of its models only. All lines for a ranked sweep without results.
std::vector<ModelResult> LinesFor(std::vector<ModelResult> baseline, std::span<const ModelResult> results, bool ranked);

// Names the modes of a baseline that the results do not have. Their lines are not compared.
void WarnOfOtherModes(const App& app, const std::string& path, std::span<const ModelResult> baseline,
                      std::span<const ModelResult> results);

// Names the command that records better results, if there are any and none is worse.
void SuggestUpdate(const App& app, const std::string& path, const std::string& sweep_id,
                   const compare::GateDecision& gate);

// The results of a sweep, with what a comparison and a baseline need of them (compare::KeepCompared).
Result<std::vector<ModelResult>> ComparedResults(store::SweepStore& store, const std::string& sweep_id);

// Compares a sweep with the baseline.
Result<compare::GateDecision> GateSweep(App& app, const Sweep& sweep, const GateOptions& options);

}  // namespace breakwatch::commands
