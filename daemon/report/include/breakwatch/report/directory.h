// The directory of a sweep: <state>/sweeps/<id>/, and <state>/latest pointing at it.
//
// plan.json     the plan, as core's ToJson(Plan): `sweep --plan` reads it back
// results.jsonl a line per model, as core's ToJson(ModelResult)
// reasons.csv   rows of ReasonTable        failures.csv  rows of FailureTable
// report.md     RenderSweep as Markdown    environment.json  output of EnvironmentJson
// sweep.json    the sweep, as core's ToJson(Sweep)
//
// same_as.json  instead of plan.json and results.jsonl, in the directory of a sweep before the latest: {"same_as": ID},
//               the later sweep whose files have the same text but for the sweep's id and the times of the results
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/report/stream.h"

namespace breakwatch::report {

// Version of breakwatch, the toolchain, the system (kernel, machine, cores, memory) and `settings_json` as given
// (empty: absent).
std::string EnvironmentJson(std::string_view version, const Toolchain& toolchain, std::string_view settings_json);

// A plan that is read one model at a time, in its order; an error of `use` ends it and is returned.
using UsePlanned = std::function<Result<void>(const PlannedModel& planned)>;
struct StreamedPlan {
  Plan head;  // without models
  std::function<Result<void>(const UsePlanned& use)> each;
};
StreamedPlan StreamOf(Plan plan);

// `plan` and `each` are read once. Results are held only if the modes of the sweep are compared with each other.
//
// Writes all files into a temporary directory and renames it: a reader sees a complete sweep or none. A directory that
// exists is replaced. Returns its path. Error: kStore, naming the file; kInvalid for an id that is not a file
// name; that of `plan` or `each`.
Result<std::string> WriteSweepDirectory(const std::string& state_dir, const Sweep& sweep, const StreamedPlan& plan,
                                        const EachResult& each, std::string_view environment_json);

// Points <state>/latest at a sweep's directory, in one step. Error: kStore.
Result<void> LinkLatest(const std::string& state_dir, const std::string& id);

// Whether the sweep's directory exists; it is complete then, or thinned.
bool HasSweepDirectory(const std::string& state_dir, const std::string& id);

// Replaces plan.json and results.jsonl of a sweep by same_as.json if a later one has the same. False: it has not, a
// file of them is missing, or `latest` points to the sweep. Error: kStore.
Result<bool> ThinSweepDirectory(const std::string& state_dir, const std::string& id, const std::string& later);

// Removes incomplete directories of killed processes. The caller holds the writer lock.
void RemoveUnfinishedDirectories(const std::string& state_dir);

// Which directories are kept: of the newest sweeps, as long as all of these hold. The newest one is, whatever its size.
struct KeptDirectories {
  std::size_t sweeps = 1;
  std::optional<SystemTime> since{};    // the sweep ended then or later
  std::optional<std::int64_t> bytes{};  // of its files and those of all newer ones
};

// Removes the other directories. In order are the sweeps of `newest`, the newest first, then others by id, whose end is
// the time at which their directory was written. What `latest` points to is kept. Errors are ignored.
void TrimSweepDirectories(const std::string& state_dir, const KeptDirectories& kept, std::span<const Sweep> newest);

}  // namespace breakwatch::report
