// MakePlan: makes a plan, with a reason for each model, from the ranked list and the history. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/fix.h"
#include "breakwatch/core/measure.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/model_rules.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/repro.h"
#include "breakwatch/store/sweep_store.h"

namespace breakwatch::engine {

// The keys of config.json that do not change a capture (structure_ignored.yaml).
struct IgnoredKeys {
  std::set<std::string> always;
  std::set<std::string> outside_training;  // in every mode but `train`, which reads them
};

struct PlanOptions {
  Rebuild rebuild = Rebuild::kIfNeeded;
  bool track = false;
  bool primary = true;                                         // as Plan::primary
  std::vector<std::string> modes{"eval"};                      // of each model; distinct
  std::map<std::string, std::vector<std::string>> modes_of{};  // instead of `modes`, by model
  Toolchain toolchain;
  int repeat = 1;                                     // as CaptureJob::repeat; not of measure modes
  MeasureOptions measure{};                           // of modes profile and bench
  FixOptions fix{};                                   // of mode fix
  ReproOptions repro{};                               // of mode repro
  std::string machine{};                              // MachineName(): they are reused only there
  std::map<std::string, std::string> inputs_specs{};  // JSON objects by model id or "model_type:NAME"
  ModelRules rules{};                                 // of models.file; its inputs come before inputs_specs
  IgnoredKeys ignored_config_keys{};
  std::set<std::string> pinned_architectures;  // ClassOf values captured at full depth only
  double verify_share = 0.02;  // of captured structures a sweep, rounded down, chosen by (seed, sweep, structure)
  std::uint64_t seed = 0;
  int quarantine_after = 3;
  std::chrono::hours quarantine_for{24};
};

// The user's inputs for a model: by the rules, else by its id, else by its model type; empty: none.
std::string InputsSpecOf(const ModelInfo& info, const PlanOptions& options);

// The dtype of a model in a mode: of the measurement, else by the rules; empty: the library's.
std::string DtypeOf(const ModelOverride& rule, const PlanOptions& options, std::string_view mode);

// The store's records of the models and structures of a list.
struct Known {
  std::map<std::string, store::CaptureHistory> histories;  // by structure
  std::map<std::string, store::RevisionRecord> revisions;  // by model
};

// The class that is built: the first of the config's architectures, else "auto:<task>", the task's Auto class.
std::string ClassOf(const ModelInfo& info);

// A job with what a model determines: id, commit, config, class, task and library.
CaptureJob JobFor(const ModelInfo& info, const std::string& config_json);

// The job of a planned model, within `limits` as far as its own do not change them. Its id is empty.
CaptureJob JobOf(const PlannedModel& planned, const CaptureLimits& limits);

// SHA-256 (hex) of the canonical JSON of everything that decides a capture's outcome. Error: kInvalid,
// config_json is not an object.
Result<std::string> StructureDigest(const ModelInfo& info, const std::string& config_json, const PlanOptions& options,
                                    std::string_view mode = kMainMode);

// Structures of a list in one mode, so that the caller can load their histories from the store.
std::vector<std::string> StructuresOf(const RankedList& list, const PlanOptions& options,
                                      std::string_view mode = kMainMode);

// Each model of the list once per mode, in order; the first of entries with one id counts.
Plan MakePlan(const std::string& sweep_id, RankedList list, const Known& known, const PlanOptions& options,
              SystemTime now);

}  // namespace breakwatch::engine
