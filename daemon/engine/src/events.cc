#include "events.h"

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "breakwatch/core/brief_event.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/aggregate.h"
#include "numbers_of.h"

namespace breakwatch::engine {
namespace {

using Fields = nlohmann::ordered_json;

Event Make(std::string name, Level level, std::string sweep_id, const Fields& fields) {
  Event event;
  event.name = std::move(name);
  event.level = level;
  event.sweep_id = std::move(sweep_id);
  event.fields_json = JsonText(fields);
  return event;
}

Event MakeFor(const ModelInfo& info, std::string name, Level level, const std::string& sweep_id, const Fields& fields) {
  Event event = Make(std::move(name), level, sweep_id, fields);
  event.model = info.id;
  event.commit = info.sha;
  return event;
}

void AddToolchain(Fields& fields, const Toolchain& toolchain) {
  fields["toolchain"] = toolchain.Key();
  fields["torch"] = toolchain.torch;
  fields["transformers"] = toolchain.transformers;
  fields["python"] = toolchain.python;
  fields["worker"] = toolchain.worker;
}

template <class T>
void AddKnown(Fields& fields, const char* name, const std::optional<T>& value) {
  if (value) fields[name] = *value;
}

void AddText(Fields& fields, const char* name, const std::string& text) {
  if (!text.empty()) fields[name] = Truncate(ToUtf8(text), kMaxEventText);
}

void AddFindings(Fields& fields, const CaptureResult& capture) {
  AddText(fields, "architecture", capture.architecture);
  AddText(fields, "model_type", capture.model_type);
  AddText(fields, "phase", capture.phase);
  AddText(fields, "depth", capture.depth);
  AddKnown(fields, "depth_mismatch", capture.depth_mismatch);
  AddKnown(fields, "graphs", capture.graphs);
  AddKnown(fields, "breaks", capture.breaks);
  AddKnown(fields, "break_sites", capture.break_sites);
  AddKnown(fields, "unique_reasons", capture.unique_reasons);
  AddKnown(fields, "ops_captured", capture.ops_captured);
  AddKnown(fields, "frames_fallback", capture.frames_fallback);
  AddKnown(fields, "recompiles", capture.recompiles);
  AddKnown(fields, "unexplained_events", capture.unexplained_events);
  fields["capture_s"] = capture.capture_s;
  fields["wall_s"] = capture.wall_s;
  fields["peak_rss_mb"] = capture.peak_rss_mb;
}

// The single event that reports the final status of a model.
Event EndOf(const ModelResult& result, bool news) {
  const CaptureResult& capture = result.capture;
  const Status status = capture.status;
  if (IsSkipped(status) || status == Status::kQuarantined || (result.reused && !news)) return BriefEvent(result);
  Fields fields = Fields::parse(OutcomeJson(result));
  AddFindings(fields, capture);
  if (HasNumbers(status)) return MakeFor(result.info, "model_captured", Level::kInfo, result.sweep_id, fields);
  AddText(fields, "error", capture.error);
  AddText(fields, "output_tail", capture.output_tail);
  const Level level = IsIncomplete(status) ? Level::kError : Level::kWarn;
  return MakeFor(result.info, "model_failed", level, result.sweep_id, fields);
}

Event GraphBreak(const ModelResult& result, const BreakSite& site) {
  Fields fields;
  fields["family"] = std::string(FamilyName(result.info.family));
  fields["reason"] = site.reason;
  fields["gb_id"] = site.gb_id;
  fields["fixability"] = site.fixability;
  fields["site_id"] = site.site_id;
  fields["file"] = site.file;
  fields["line"] = site.line;
  fields["function"] = site.function;
  AddText(fields, "source_line", site.source_line);
  fields["frame"] = site.frame;
  fields["occurrences"] = site.occurrences;
  AddText(fields, "explanation", site.explanation);
  AddText(fields, "context", site.context);
  fields["hints"] = site.hints;
  AddText(fields, "wrapped_in", site.wrapped_in);
  fields["compile_id"] = site.compile_id;
  fields["structure"] = result.structure;
  fields["mode"] = result.capture.mode;
  fields["toolchain"] = result.capture.toolchain.Key();
  return MakeFor(result.info, "graph_break", Level::kInfo, result.sweep_id, fields);
}

const Numbers* FindNumbers(const TrackedModel* row, const std::string& toolchain) {
  if (row == nullptr) return nullptr;
  const auto it = row->numbers.find(toolchain);
  return it == row->numbers.end() ? nullptr : &it->second;
}

using Reasons = std::map<std::pair<std::string, std::string>, const ReasonCount*>;

Reasons ByKey(const Numbers& numbers) {
  Reasons reasons;
  for (const ReasonCount& count : numbers.reasons) reasons[{count.reason, count.gb_id}] = &count;
  return reasons;
}

// One event for each reason that is in `in` but not in `out`.
void Differences(const ModelResult& result, const char* name, Level level, const Numbers& in, const Numbers& out,
                 const Numbers& before, std::vector<Event>& events) {
  const Reasons others = ByKey(out);
  for (const ReasonCount& count : in.reasons) {
    if (others.contains({count.reason, count.gb_id})) continue;
    Fields fields;
    fields["family"] = std::string(FamilyName(result.info.family));
    fields["reason"] = count.reason;
    fields["gb_id"] = count.gb_id;
    fields["fixability"] = count.fixability;
    fields["occurrences"] = count.events;
    fields["sites"] = count.sites;
    fields["commit_before"] = before.commit;
    fields["cause"] = result.rebuild_reason;
    fields["mode"] = result.capture.mode;
    fields["toolchain"] = result.capture.toolchain.Key();
    events.push_back(MakeFor(result.info, name, level, result.sweep_id, fields));
  }
}

}  // namespace

std::vector<Event> BeginEvents(const Sweep& sweep, const Plan& plan) {
  std::map<Action, int> actions;
  for (const PlannedModel& planned : plan.models) ++actions[planned.action];
  Fields fields;
  fields["trigger"] = std::string(SweepTriggerName(sweep.trigger));
  fields["source"] = sweep.source;
  fields["ranked"] = sweep.ranked;
  fields["rebuild"] = std::string(RebuildName(plan.rebuild));
  fields["planned"] = sweep.planned;
  fields["captures"] = actions[Action::kCapture];
  fields["shared"] = actions[Action::kShare];
  fields["reused"] = actions[Action::kReuse];
  fields["skipped"] = actions[Action::kSkip];
  AddToolchain(fields, sweep.toolchain);
  std::vector<Event> events = {Make("sweep_started", Level::kInfo, sweep.id, fields)};
  for (const PlannedModel& planned : plan.models) {
    if (planned.action != Action::kSkip) events.push_back(PlannedEvent(sweep.id, planned));
  }
  return events;
}

Event SweepResumed(const Sweep& sweep, std::size_t already_done) {
  Fields fields;
  fields["planned"] = sweep.planned;
  fields["already_done"] = already_done;
  return Make("sweep_resumed", Level::kInfo, sweep.id, fields);
}

std::vector<Event> ResultEvents(const ModelResult& result, const TrackedModel* before, const std::string& published) {
  const std::string& mode = result.capture.mode;
  const Numbers* same_toolchain = FindNumbers(before, NumbersKey(result.capture.toolchain.Key(), mode));
  const bool numbered = HasNumbers(result.capture.status);
  // A capture that this repository's numbers already use is not new, in any commit or sweep.
  const bool known = same_toolchain != nullptr && same_toolchain->capture_id == result.capture_id;
  const bool measured = IsMeasureMode(mode);
  const bool news = numbered && !IsImport(result) && !measured ? !known : !result.reused;
  std::vector<Event> events = {EndOf(result, news)};
  if (!numbered || !news || measured) return events;  // a measurement's breaks are those of mode eval

  for (const BreakSite& site : result.capture.sites) events.push_back(GraphBreak(result, site));
  const Numbers* previous =
      same_toolchain != nullptr ? same_toolchain : FindNumbers(before, NumbersKey(published, mode));
  if (previous != nullptr) {
    const Numbers now = NumbersOf(result);
    Differences(result, "reason_new", Level::kWarn, now, *previous, *previous, events);
    Differences(result, "reason_fixed", Level::kInfo, *previous, now, *previous, events);
  }
  return events;
}

Event SweepFinished(const Sweep& sweep) {
  Fields fields;
  fields["state"] = IsGivenUp(sweep) ? "given_up" : sweep.state == SweepState::kFinished ? "finished" : "interrupted";
  fields["complete"] = sweep.complete;
  fields["planned"] = sweep.planned;
  fields["duration_s"] = std::chrono::duration<double>(sweep.finished_at - sweep.started_at).count();
  fields["statuses"] = sweep.statuses;
  AddToolchain(fields, sweep.toolchain);
  return Make("sweep_finished", sweep.complete ? Level::kInfo : Level::kWarn, sweep.id, fields);
}

Event SweepFailed(const std::string& sweep_id, const Error& error) {
  Fields fields;
  fields["error"] = Truncate(ToUtf8(error.message), kMaxEventText);
  return Make("sweep_failed", Level::kError, sweep_id, fields);
}

Event ConfigReloaded(const Error* refused) {
  Fields fields;
  if (refused != nullptr) fields["error"] = Truncate(ToUtf8(refused->message), kMaxEventText);
  return refused == nullptr ? Make("config_reloaded", Level::kInfo, "", fields)
                            : Make("config_reload_refused", Level::kError, "", fields);
}

}  // namespace breakwatch::engine
