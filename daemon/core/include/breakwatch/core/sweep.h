// A sweep and the result of each of its models.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/model.h"

namespace breakwatch {

enum class SweepState { kRunning, kFinished, kInterrupted };
std::string_view SweepStateName(SweepState state);  // "running", "finished", "interrupted"
std::optional<SweepState> ParseSweepState(std::string_view name);

// What began a sweep.
enum class SweepTrigger {
  kCli,
  kInterval,
  kSignal,
  kApi,
  kTraceImport,  // the sweep holds what was read from the traces of a job
  kBisect,       // it captures one combination of a bisection
  kResume,
  kMeasure,  // all its modes are measure modes
  kOther,    // a name that this version does not know, in a request or in the store of another version
};
std::string_view SweepTriggerName(SweepTrigger trigger);  // "cli", "interval", ..., "other"
SweepTrigger ParseSweepTrigger(std::string_view name);    // never fails: no decision depends on an unknown trigger

struct Sweep {
  std::string id;  // "20261121T020512Z-3f9a1c": sorts by start
  SweepTrigger trigger = SweepTrigger::kCli;
  std::string source;
  bool ranked = false;
  SweepState state = SweepState::kRunning;
  SystemTime started_at{}, finished_at{};
  int planned = 0;        // results: one for each model and mode
  bool complete = false;  // finished, and no model is not_attempted or worker_lost
  Toolchain toolchain;
  std::map<std::string, int> statuses;                      // results by final status name, over all modes
  std::map<std::string, std::map<std::string, int>> modes;  // the same for each mode
};

// A model of a sweep with its final status. The contract's "fields of a result" are these and the
// capture's; ToJson(ModelResult) writes them flat.
struct ModelResult {
  std::string sweep_id;
  ModelInfo info;
  std::string structure;
  std::string capture_id;      // where numbers come from; empty without a capture
  std::string shared_from;     // the model whose capture it was, when not this one's
  std::string rebuild_reason;  // PlannedModel::reason
  bool reused = false;         // the capture is of an earlier sweep
  CaptureResult capture;       // status and detail also for models that were never captured
  SystemTime finished_at{};
  std::vector<std::string> owners{};  // by models.file, filled in to be printed; not stored
};

// Its results answer one command. They are not the state of the tracked models, and the sweep is not the "latest" one.
inline bool IsAside(const Sweep& sweep) {
  return sweep.trigger == SweepTrigger::kBisect || sweep.trigger == SweepTrigger::kMeasure;
}
// What was read from the traces of a job: history like any other, but no sweep of this daemon's ranking or schedule.
inline bool IsImport(const Sweep& sweep) { return sweep.trigger == SweepTrigger::kTraceImport; }
inline bool IsImport(const ModelResult& result) { return result.capture.mode == kImport; }

}  // namespace breakwatch
