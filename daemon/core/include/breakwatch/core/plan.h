// Plan: what a sweep will do, model by model, decided before the first capture and never changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/model.h"

namespace breakwatch {

enum class Action {
  kCapture,  // a new capture
  kShare,    // waits for another entry of this plan with the same structure
  kReuse,    // an earlier capture of the same structure is used
  kSkip,     // excluded, with a status
};
std::string_view ActionName(Action action);
std::optional<Action> ParseAction(std::string_view name);

enum class Rebuild { kIfNeeded, kAlways, kNever };
std::string_view RebuildName(Rebuild rebuild);
std::optional<Rebuild> ParseRebuild(std::string_view name);

struct PlannedModel {
  ModelInfo info;
  std::string config_json;
  std::string mode = "eval";
  std::string structure;  // digest; empty when skipped
  Action action = Action::kSkip;
  std::string reason;            // why this action: "new model", "torch 2.13.0 -> 2.15.0", "unchanged"
  std::optional<Status> status;  // the final status of a kSkip
  std::string detail;            // of `status`
  std::string capture_id;        // the capture a kReuse refers to
  std::string shared_from;       // model whose capture a kShare waits for
  Depth depth = Depth::kAuto;
  int repeat = 1;                // as in CaptureJob
  std::string inputs_spec_json;  // as in CaptureJob
  std::string dtype, attention;  // as in CaptureJob
  std::string measure_json;      // as in CaptureJob
  std::string fix_json;          // as in CaptureJob
  std::string repro_json;        // as in CaptureJob
  LimitOverrides limits;
};

struct Plan {
  std::string sweep_id;
  std::string source;   // as RankedList::source
  bool ranked = false;  // as RankedList::ranked: this plan replaces the tracked set when its sweep completes
  bool track = false;   // its models join the tracked set although not ranked
  Rebuild rebuild = Rebuild::kIfNeeded;
  Toolchain toolchain;
  bool primary = true;  // by the toolchain whose numbers are published; a further one's are only shown next to them
  std::vector<PlannedModel> models;  // in rank order; the modes of a model in the requested order
};

}  // namespace breakwatch
