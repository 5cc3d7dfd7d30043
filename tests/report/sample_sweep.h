// A small invented sweep with every status, and with texts that are harmful if they are not escaped.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::report {

inline SystemTime At(std::int64_t seconds) { return SystemTime(std::chrono::seconds(1'790'000'000 + seconds)); }

inline Toolchain SampleToolchain() {
  return {.name = "default", .torch = "2.15.0", .transformers = "5.23.0", .python = "3.11.2", .worker = "1"};
}

inline BreakSite Site(const std::string& reason, const std::string& gb_id, std::int64_t occurrences, int line) {
  BreakSite site;
  site.site_id = "site" + std::to_string(line);
  site.reason = reason;
  site.gb_id = gb_id;
  site.fixability = gb_id.empty() ? "none" : "supportable";
  site.explanation = "The tracer cannot go on here.";
  site.context = "value: \x1b[31mred\x1b[0m | of\na tensor";
  site.hints = {"Write it as torch.where.", "Or leave it."};
  site.file = "sample/models/alpha.py";
  site.line = line;
  site.function = "forward";
  site.source_line = "if x.sum() > 0: | `y`";
  site.frame = "library";
  site.occurrences = occurrences;
  return site;
}

inline ModelResult Ended(const std::string& id, Status status, const std::string& detail) {
  ModelResult result;
  result.sweep_id = "20260921T141320Z-abc123";
  result.info.id = id;
  result.info.sha = "0123456789abcdef0123456789abcdef01234567";
  result.info.family = Family::kNlp;
  result.info.config_source = "hub";
  result.capture.status = status;
  result.capture.detail = detail;
  result.finished_at = At(60);
  return result;
}

// A completed capture with these sites.
inline ModelResult Captured(const std::string& id, std::vector<BreakSite> sites) {
  ModelResult result = Ended(id, sites.empty() ? Status::kFullGraph : Status::kGraphBreaks,
                             sites.empty() ? "one graph" : "the graph breaks");
  CaptureResult& c = result.capture;
  std::int64_t events = 0;
  for (const BreakSite& site : sites) events += site.occurrences;
  const auto count = static_cast<std::int64_t>(sites.size());
  c.phase = "done", c.architecture = "AlphaModel", c.mode = "eval", c.depth = "reduced", c.dtype = "float32";
  c.device = "cpu", c.params = 1234, c.graphs = count + 1, c.breaks = events, c.break_sites = count;
  c.dynamo_counter_breaks = c.explain_breaks = c.unique_reasons = count;
  c.ops_captured = 42, c.frames_total = 2, c.frames_fallback = c.recompiles = c.unexplained_events = 0;
  c.phase_s = {{"create", 0.25}, {"inputs", 0.01}, {"eager", 0.5}, {"capture", 1.75}};
  c.capture_s = 2.51, c.peak_rss_mb = 512.4, c.inputs_json = R"({"input_ids":{"shape":[1,8],"dtype":"int64"}})";
  c.toolchain = SampleToolchain();
  c.sites = std::move(sites);
  result.capture_id = "capture-" + id;
  result.structure = "5tructure";
  result.rebuild_reason = "new model";
  return result;
}

// One with graphs, module paths and mode details.
inline ModelResult Detailed() {
  ModelResult result = Captured("sample/detailed", {Site("Data-dependent branching", "GB9001", 2, 7),
                                                    Site("Unsupported | builtin `print`", "", 1, 9)});
  CaptureResult& c = result.capture;
  c.mode = "train";
  c.sites[0].module_path = "encoder.layer.0";
  c.sites[0].stack = {"sample/models/alpha.py:20 in forward", "sample/models/alpha.py:7 in forward"};
  c.sites[0].compile_id = "0/0", c.sites[1].wrapped_in = "a loop";
  for (int i = 0; i < 3; ++i) {
    GraphSegment segment;
    segment.index = i, segment.compile_id = std::to_string(i) + "/0";
    segment.file = "sample/models/alpha.py", segment.line = 5 + i, segment.function = "forward";
    segment.ops = {{"call_function", 3 + i}, {"output", 1}}, segment.ops_total = 4 + i;
    segment.top_ops = {{"add", 2}, {"\x1b[31mrelu|", 1}}, segment.inputs = 2;
    if (i > 0) segment.guards = 10 + i;
    segment.ended_by = i == 0 ? c.sites[0].site_id : i == 1 ? "elsewhere" : "";
    c.segments.push_back(segment);
  }
  c.inputs_json = R"({"input_ids":{"shape":[2,8],"dtype":"int64"},"use_cache":false,"sizes":[[4,4],[8,8]]})";
  c.mode_detail_json =
      R"({"backward_graphs":2,"first_error":{"reason":"a | reason","line":7},"shapes":[[2,8],[3,8]],"draft":null})";
  return result;
}

inline std::vector<ModelResult> SampleResults() {
  std::vector<ModelResult> results;
  results.push_back(Captured("sample/whole", {}));
  results.push_back(Captured("sample/broken", {Site("Data-dependent branching", "GB9001", 3, 7),
                                               Site("Unsupported | builtin `print`", "", 1, 9)}));
  results.push_back(Captured("sample/one-reason", {Site("Data-dependent branching", "GB9001", 1, 7)}));
  results.back().info.family = Family::kVision;
  results.back().shared_from = "sample/broken";
  results.back().info.config_source = "class_default";
  results.push_back(Captured("sample/known", {}));
  results.back().reused = true;
  results.push_back(Ended("sample/=cmd|'evil'<b>", Status::kFailedEager, "RuntimeError: sizes do not match"));
  results.back().capture.phase = "eager";
  results.back().capture.error = "Traceback:\n  File \"a.py\"\nRuntimeError: \x1b]0;title\x07sizes";
  results.push_back(Ended("sample/slow", Status::kTimeout, "capture took longer than 300 s"));
  results.push_back(Ended("sample/gated", Status::kSkippedGated, "gated: request access at the Hub"));
  results.back().info.sha.clear();
  return results;
}

inline Sweep SampleSweep() {
  Sweep sweep;
  sweep.id = "20260921T141320Z-abc123";
  sweep.trigger = SweepTrigger::kCli;
  sweep.source = "snapshot collectors/hub/snapshot";
  sweep.ranked = true;
  sweep.state = SweepState::kFinished;
  sweep.started_at = At(0);
  sweep.finished_at = At(75);
  sweep.planned = 7;
  sweep.complete = true;
  sweep.toolchain = SampleToolchain();
  for (const ModelResult& result : SampleResults()) ++sweep.statuses[std::string(StatusName(result.capture.status))];
  return sweep;
}

inline Plan SamplePlan() {
  Plan plan;
  plan.sweep_id = SampleSweep().id;
  plan.source = SampleSweep().source;
  plan.ranked = true;
  plan.toolchain = SampleToolchain();
  constexpr Action kActions[] = {Action::kCapture, Action::kCapture, Action::kShare, Action::kReuse,
                                 Action::kCapture, Action::kCapture, Action::kSkip};
  for (const ModelResult& result : SampleResults()) {
    PlannedModel model;
    model.info = result.info;
    model.info.rank = static_cast<int>(plan.models.size()) + 1;
    model.config_json = R"({"model_type":"alpha"})";
    model.action = kActions[plan.models.size()];
    model.reason = model.action == Action::kReuse ? "unchanged" : "new model";
    model.shared_from = result.shared_from;
    if (model.action == Action::kSkip) model.status = result.capture.status, model.detail = result.capture.detail;
    plan.models.push_back(model);
  }
  return plan;
}

}  // namespace breakwatch::report
