#include "breakwatch/engine/make_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "breakwatch/core/selector.h"
#include "breakwatch/core/text.h"

namespace breakwatch::engine {
namespace {

using store::CaptureHistory;
using store::RevisionRecord;

// The planned action for one model, and the reason.
struct Decision {
  Action action = Action::kCapture;
  std::string reason;
  std::optional<Status> status{};
  std::string detail{};
  Depth depth = Depth::kAuto;
};

std::string Short(const std::string& commit) { return commit.substr(0, 7); }

std::string Changed(const char* what, const std::string& before, const std::string& after) {
  return std::string(what) + " " + before + " -> " + after;
}

void Join(std::string& reasons, const std::string& reason) {
  if (!reasons.empty()) reasons += ", ";
  reasons += reason;
}

// "torch 2.13.0 -> 2.15.0, worker 1.0.0 -> 1.1.0"; empty if nothing differs or nothing is known.
std::string ToolchainChanges(const Toolchain& before, const Toolchain& after) {
  struct Field {
    const char* name;
    std::string Toolchain::*value;
  };
  static constexpr std::array<Field, 6> kFields = {{{"toolchain", &Toolchain::name},
                                                    {"torch", &Toolchain::torch},
                                                    {"transformers", &Toolchain::transformers},
                                                    {"python", &Toolchain::python},
                                                    {"device", &Toolchain::device},
                                                    {"worker", &Toolchain::worker}}};
  std::string changes;
  for (const Field& field : kFields) {
    const std::string& old_value = before.*field.value;
    if (!old_value.empty() && old_value != after.*field.value) {
      Join(changes, Changed(field.name, old_value, after.*field.value));
    }
  }
  return changes;
}

// True if the last capture was of the same model in another mode.
bool IsOtherMode(const PlannedModel& planned, const RevisionRecord& before, const PlanOptions& options) {
  return std::any_of(AllStoredModes().begin(), AllStoredModes().end(), [&](const std::string& mode) {
    const auto digest = StructureDigest(planned.info, planned.config_json, options, mode);
    return mode != planned.mode && digest && *digest == before.structure;
  });
}

// Why no stored capture matches this structure.
std::string CaptureReason(const PlannedModel& planned, const RevisionRecord* before, const PlanOptions& options) {
  const ModelInfo& info = planned.info;
  if (before == nullptr) return "new model";
  std::string reasons;
  if (!before->commit.empty() && before->commit != info.sha) {
    Join(reasons, Changed("commit", Short(before->commit), Short(info.sha)));
  }
  if (const std::string changes = ToolchainChanges(before->toolchain, options.toolchain); !changes.empty()) {
    Join(reasons, changes);
  }
  if (!reasons.empty()) return reasons;
  const bool measured = IsMeasureMode(planned.mode);
  if (!measured && options.pinned_architectures.contains(ClassOf(info))) return "class pinned to full depth";
  // The options of an earlier measurement are not known here, so its structure cannot be told from another change.
  if (measured) return "no result yet on this machine with these options";
  return IsOtherMode(planned, *before, options) ? "new mode " + planned.mode : "config changed";
}

std::string ReuseReason(const ModelInfo& info, const RevisionRecord* before) {
  if (before == nullptr) return "new model, structure captured before";
  if (!before->commit.empty() && before->commit != info.sha) {
    return Changed("commit", Short(before->commit), Short(info.sha)) + ", same structure";
  }
  return "unchanged";
}

// Chooses the captured structures that this sweep verifies at full depth. Their share is rounded down, so that a small
// sweep of unchanged models needs no capture. Each sweep chooses others, but the same seed and sweep give the same
// choice. Structures with breaks are included: layers without breaks were also captured at reduced depth only.
std::set<std::string> ChosenToVerify(const Known& known, const std::string& sweep_id, const PlanOptions& options) {
  std::vector<std::pair<std::string, std::string>> captured;  // order of choice, structure
  for (const auto& [structure, history] : known.histories) {
    if (!history.reusable_capture_id || !HasNumbers(history.reusable_status)) continue;
    captured.emplace_back(Sha256Hex(std::to_string(options.seed) + "/" + sweep_id + "/" + structure), structure);
  }
  std::sort(captured.begin(), captured.end());
  captured.resize(static_cast<std::size_t>(options.verify_share * static_cast<double>(captured.size())));
  std::set<std::string> chosen;
  for (auto& [order, structure] : captured) chosen.insert(std::move(structure));
  return chosen;
}

// Returns when the quarantine of a structure ends; nullopt if it may be captured.
std::optional<SystemTime> QuarantinedUntil(const CaptureHistory& history, const PlanOptions& options, SystemTime now) {
  if (history.failures_in_a_row < options.quarantine_after) return std::nullopt;
  const SystemTime until = history.last_failure_at + options.quarantine_for;
  if (now < history.last_failure_at) return std::nullopt;  // the clock was ahead then: its age is unknown
  return now < until ? std::optional(until) : std::nullopt;
}

class Planner {
 public:
  Planner(const std::string& sweep_id, const Known& known, const PlanOptions& options, SystemTime now)
      : known_(known), options_(options), now_(now), verified_(ChosenToVerify(known, sweep_id, options)) {}

  PlannedModel Decide(RankedModel model, const std::string& mode) {
    PlannedModel planned;
    planned.info = std::move(model.info);
    planned.config_json = std::move(model.config_json);
    planned.mode = mode;
    if (!SplitMode(mode).call.empty() && RunsOwnCode(planned.info)) {
      planned.status = Status::kSkippedUnsupportedLibrary;
      planned.detail = "your own code has no call variants";
      planned.reason = "excluded";
      return planned;
    }
    if (model.excluded) {
      planned.status = model.excluded;
      planned.detail = model.detail.empty() ? std::string(StatusName(*model.excluded)) : model.detail;
      planned.reason = "excluded";
      return planned;
    }
    const ModelOverride rule = OverrideOf(planned.info, options_.rules);
    if (!rule.skip.empty()) {
      planned.status = Status::kSkippedFiltered;
      planned.detail = rule.skip + " (" + rule.skip_place + ")";
      planned.reason = "excluded";
      return planned;
    }
    auto structure = StructureDigest(planned.info, planned.config_json, options_, mode);
    if (!structure) {
      planned.status = Status::kSkippedNoConfig;
      planned.detail = structure.error().message;
      planned.reason = "excluded";
      return planned;
    }
    planned.structure = *std::move(structure);
    planned.repeat = IsMeasureMode(mode) ? 1 : options_.repeat;
    planned.inputs_spec_json = InputsSpecOf(planned.info, options_);
    planned.dtype = DtypeOf(rule, options_, mode), planned.attention = rule.attention;
    if (mode == kProfileMode || mode == kBenchMode) planned.measure_json = MeasureJson(options_.measure);
    if (mode == kFixMode) planned.fix_json = FixJson(options_.fix);
    if (mode == kReproMode) planned.repro_json = ReproJson(options_.repro);
    planned.limits = rule.limits;
    Decide(planned);
    return planned;
  }

 private:
  void Decide(PlannedModel& planned) {
    const auto revision = known_.revisions.find(planned.info.id);
    const RevisionRecord* before = revision == known_.revisions.end() ? nullptr : &revision->second;
    const auto found = known_.histories.find(planned.structure);
    const CaptureHistory history = found == known_.histories.end() ? CaptureHistory{} : found->second;

    Decision decision = options_.rebuild == Rebuild::kAlways  ? Decision{Action::kCapture, "--rebuild always"}
                        : options_.rebuild == Rebuild::kNever ? WithoutCaptures(history)
                                                              : IfNeeded(planned, history, before);
    if (decision.action == Action::kCapture && !IsMeasureMode(planned.mode) &&
        options_.pinned_architectures.contains(ClassOf(planned.info))) {
      decision.depth = Depth::kFull;
    }
    if (decision.action == Action::kReuse) planned.capture_id = *history.reusable_capture_id;
    if (decision.action == Action::kCapture) {
      const auto [leader, first] = leaders_.emplace(planned.structure, planned.info.id);
      if (!first) {
        planned.shared_from = leader->second;
        decision = {Action::kShare, "same structure as " + leader->second};
      }
    }
    planned.action = decision.action;
    planned.reason = std::move(decision.reason);
    planned.status = decision.status;
    planned.detail = std::move(decision.detail);
    planned.depth = decision.depth;
  }

  static Decision WithoutCaptures(const CaptureHistory& history) {
    if (history.reusable_capture_id) return {Action::kReuse, "--rebuild never"};
    return {Action::kSkip, "--rebuild never: not captured yet", Status::kNotAttempted,
            "--rebuild never, and no capture of this structure is stored"};
  }

  Decision IfNeeded(const PlannedModel& planned, const CaptureHistory& history, const RevisionRecord* before) const {
    if (history.reusable_capture_id) {
      if (verified_.contains(planned.structure) && !IsMeasureMode(planned.mode)) {
        return {Action::kCapture, "selected for verification at full depth", {}, {}, Depth::kVerify};
      }
      return {Action::kReuse, ReuseReason(planned.info, before)};
    }
    const std::string last(StatusName(history.last_status));
    if (const auto until = QuarantinedUntil(history, options_, now_)) {
      const std::string text = "quarantined until " + FormatTime(*until).substr(0, 19) + "Z after " +
                               std::to_string(history.failures_in_a_row) + " failures in a row (last: " + last + ")";
      return {Action::kSkip, text, Status::kQuarantined, text};
    }
    if (history.failures_in_a_row >= options_.quarantine_after) {
      return {Action::kCapture, "retry after quarantine, last status " + last};
    }
    if (history.failures_in_a_row > 0) {
      return {Action::kCapture, "retry after " + last + " (" + std::to_string(history.failures_in_a_row) + " of " +
                                    std::to_string(options_.quarantine_after) + ")"};
    }
    if (history.last_status != Status::kNotAttempted) return {Action::kCapture, "retry after " + last};
    return {Action::kCapture, CaptureReason(planned, before, options_)};
  }

  const Known& known_;
  const PlanOptions& options_;
  const SystemTime now_;
  const std::set<std::string> verified_;
  std::map<std::string, std::string> leaders_;  // by structure: the model that is captured
};

}  // namespace

Plan MakePlan(const std::string& sweep_id, RankedList list, const Known& known, const PlanOptions& options,
              SystemTime now) {
  Plan plan;
  plan.sweep_id = sweep_id;
  plan.source = list.source;
  plan.ranked = list.ranked;
  plan.track = options.track;
  plan.rebuild = options.rebuild;
  plan.toolchain = options.toolchain;
  plan.primary = options.primary;
  plan.models.reserve(list.models.size() * options.modes.size());
  Planner planner(sweep_id, known, options, now);
  std::set<std::string> seen;
  for (RankedModel& model : list.models) {
    if (!seen.insert(model.info.id).second) continue;
    const auto own = options.modes_of.find(model.info.id);
    const std::vector<std::string>& modes = own == options.modes_of.end() ? options.modes : own->second;
    for (const std::string& mode : modes) {
      plan.models.push_back(&mode == &modes.back() ? planner.Decide(std::move(model), mode)
                                                   : planner.Decide(model, mode));
    }
  }
  return plan;
}

}  // namespace breakwatch::engine
