#include "breakwatch/core/brief_event.h"

#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

using Fields = nlohmann::ordered_json;

Event EventOf(const ModelInfo& info, std::string name, const std::string& sweep_id, std::string fields_json) {
  return {std::move(name), Level::kInfo, sweep_id, info.id, info.sha, std::move(fields_json)};
}

}  // namespace

Event PlannedEvent(const std::string& sweep_id, const PlannedModel& planned) {
  Fields fields;
  fields["action"] = std::string(ActionName(planned.action));
  fields["reason"] = planned.reason;
  fields["family"] = std::string(FamilyName(planned.info.family));
  fields["mode"] = planned.mode;
  if (planned.info.rank > 0) fields["rank"] = planned.info.rank;
  fields["structure"] = planned.structure;
  if (!planned.shared_from.empty()) fields["shared_from"] = planned.shared_from;
  return EventOf(planned.info, "model_planned", sweep_id, JsonText(fields));
}

std::string OutcomeJson(const ModelResult& result) {
  const CaptureResult& capture = result.capture;
  Fields fields;
  fields["status"] = std::string(StatusName(capture.status));
  fields["status_detail"] = Truncate(ToUtf8(capture.detail), kMaxEventText);
  fields["family"] = std::string(FamilyName(result.info.family));
  fields["mode"] = capture.mode;
  if (result.info.rank > 0) fields["rank"] = result.info.rank;
  if (!capture.suggestion.empty()) fields["suggestion"] = Truncate(ToUtf8(capture.suggestion), kMaxEventText);
  fields["reason"] = result.rebuild_reason;
  if (!result.structure.empty()) fields["structure"] = result.structure;
  if (!result.capture_id.empty()) fields["capture_id"] = result.capture_id;
  if (!result.shared_from.empty()) fields["shared_from"] = result.shared_from;
  if (result.reused) fields["reused"] = true;
  return JsonText(fields);
}

Event BriefEvent(const ModelResult& result) {
  const bool skipped = IsSkipped(result.capture.status) || result.capture.status == Status::kQuarantined;
  return EventOf(result.info, skipped ? "model_skipped" : "model_unchanged", result.sweep_id, OutcomeJson(result));
}

}  // namespace breakwatch
