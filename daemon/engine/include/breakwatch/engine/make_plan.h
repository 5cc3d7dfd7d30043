// MakePlan: the ranked list and what is known already, in; the plan with a reason for each model, out. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/store/store.h"

namespace breakwatch::engine {

struct PlanOptions {
  Rebuild rebuild = Rebuild::kIfNeeded;
  bool track = false;
  std::string mode = "eval";
  Toolchain toolchain;
  std::set<std::string> ignored_config_keys;   // structure_ignored.yaml
  std::set<std::string> pinned_architectures;  // ClassOf values captured at full depth only
  double verify_share = 0.02;  // of clean structures a sweep, rounded down, chosen by (seed, sweep, structure)
  std::uint64_t seed = 0;
  int quarantine_after = 3;
  std::chrono::hours quarantine_for{24};
};

// What the store knows of the models and structures of a list.
struct Known {
  std::map<std::string, store::CaptureHistory> histories;  // by structure
  std::map<std::string, store::RevisionRecord> revisions;  // by model
};

// The class that is built: the first of the config's architectures, else "auto:<task>", the task's Auto class.
std::string ClassOf(const ModelInfo& info);

// SHA-256 (hex) of the canonical JSON of everything that decides a capture's outcome. Error: kInvalid,
// config_json is not an object.
Result<std::string> StructureDigest(const ModelInfo& info, const std::string& config_json, const PlanOptions& options);

// Structures of a list, so that the caller can ask the store for their histories.
std::vector<std::string> StructuresOf(const RankedList& list, const PlanOptions& options);

// Every model of the list once, in its order; of entries with one id the first counts.
Plan MakePlan(const std::string& sweep_id, const RankedList& list, const Known& known, const PlanOptions& options,
              SystemTime now);

}  // namespace breakwatch::engine
