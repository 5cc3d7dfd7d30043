// Sides: the two sets of results that `compare` and the HTTP API compare, by their selectors.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "commands.h"

namespace breakwatch::commands {

// How much of each result is read: all, or what a comparison needs (compare::KeepCompared).
enum class Detail { kWhole, kCompared };

struct Selected {
  std::string label;
  std::vector<ModelResult> results;
  bool is_whole = true;  // false: of a sweep of named models: it does not cover others
};

struct Sides {
  Selected a, b;
  bool has_baseline = true;           // false: the first build
  std::string sweep;                  // the id of B, if it was compared with a baseline file and is a sweep
  std::set<std::string> other_modes;  // left out, because only one side has them
};

// "latest", "previous", a sweep's id, toolchain:NAME, or MODEL@COMMIT. Without `mode` all modes that both sides have
// are compared. Error: kNotFound; kUsage, a wrong selector or no mode in common; that of the store.
Result<Sides> SidesOf(store::SweepStore& store, const Settings& settings, const std::string& a, const std::string& b,
                      const std::string& mode, Detail detail);
// The same for a command, whose A may be a baseline file.
Result<Sides> SidesOf(const App& app, store::SweepStore& store, const CompareOptions& options, Detail detail);

}  // namespace breakwatch::commands
