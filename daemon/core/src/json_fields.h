// The field names of the JSON contract, each defined once. Each Describe passes every field of a value to a visitor.
// The writer and the reader are such visitors.
#pragma once

#include <string>

#include "breakwatch/core/artifact.h"
#include "breakwatch/core/capture.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::json_fields {

// The version in documents that have a schema field.
inline constexpr int kSchema = 1;

// A JSON text: a string in core values, a JSON value in documents.
template <class Text>
struct Raw {
  Text& text;
};
template <class Text>
Raw(Text&) -> Raw<Text>;

// A field that is omitted while it is empty: it was added later, and most values lack it.
template <class Value>
struct WhenAny {
  Value& value;
};
template <class Value>
WhenAny(Value&) -> WhenAny<Value>;

// A JSON text that is omitted while it is empty.
template <class Text>
struct RawWhenAny {
  Text& text;
};
template <class Text>
RawWhenAny(Text&) -> RawWhenAny<Text>;

template <class V, class T>
void DescribeToolchain(V& v, T& t) {
  v("name", t.name), v("torch", t.torch), v("transformers", t.transformers), v("python", t.python);
  v("worker", t.worker), v("device", t.device);
}

template <class V, class T>
void DescribeLimits(V& v, T& l) {
  v("create_s", l.create), v("inputs_s", l.inputs), v("eager_s", l.eager), v("capture_s", l.capture);
  v("rss_bytes", l.rss_bytes), v("output_bytes", l.output_bytes);
}

template <class V, class T>
void DescribeLimitOverrides(V& v, T& l) {
  v("create_s", l.create), v("inputs_s", l.inputs), v("eager_s", l.eager), v("capture_s", l.capture);
  v("rss_bytes", l.rss_bytes);
}

template <class V, class T>
void DescribeJob(V& v, T& j) {
  v("job", j.id), v("model", j.model), v("revision", j.revision), v("config", Raw{j.config_json});
  v("architecture", j.architecture), v("task", j.task), v("library", j.library), v("mode", j.mode);
  v("family", WhenAny{j.family});
  v("call", WhenAny{j.call}), v("dtype", WhenAny{j.dtype}), v("attention", WhenAny{j.attention});
  v("measure", RawWhenAny{j.measure_json}), v("build", RawWhenAny{j.build_json});
  v("fix", RawWhenAny{j.fix_json}), v("repro", RawWhenAny{j.repro_json});
  v("depth", j.depth), v("repeat", j.repeat), v("inputs_spec", Raw{j.inputs_spec_json}), v("structure", j.structure);
  v("limits", j.limits);
}

template <class V, class T>
void DescribeSite(V& v, T& s) {
  v("site_id", s.site_id), v("reason", s.reason), v("gb_id", s.gb_id), v("fixability", s.fixability);
  v("explanation", s.explanation), v("context", s.context), v("hints", s.hints), v("file", s.file);
  v("line", s.line), v("function", s.function), v("source_line", s.source_line), v("frame", s.frame);
  v("wrapped_in", s.wrapped_in), v("compile_id", s.compile_id), v("module_path", s.module_path);
  v("stack", WhenAny{s.stack}), v("stack_source", WhenAny{s.stack_source}), v("occurrences", s.occurrences);
}

template <class V, class T>
void DescribeSegment(V& v, T& s) {
  v("index", s.index), v("compile_id", s.compile_id), v("file", s.file), v("line", s.line), v("function", s.function);
  v("ops", s.ops), v("ops_total", s.ops_total), v("top_ops", s.top_ops), v("inputs", s.inputs), v("guards", s.guards);
  v("ended_by", s.ended_by);
}

// The fields of a capture, except those whose names depend on the document.
template <class V, class T>
void DescribeFindings(V& v, T& r) {
  v("mode", r.mode), v("device", r.device), v("dtype", r.dtype), v("status", r.status), v("phase", r.phase);
  v("graphs", r.graphs), v("breaks", r.breaks), v("break_sites", r.break_sites);
  v("dynamo_counter_breaks", r.dynamo_counter_breaks), v("explain_breaks", r.explain_breaks);
  v("unique_reasons", r.unique_reasons), v("ops_captured", r.ops_captured), v("frames_total", r.frames_total);
  v("frames_fallback", r.frames_fallback), v("recompiles", r.recompiles);
  v("unexplained_events", r.unexplained_events), v("depth", r.depth), v("depth_mismatch", r.depth_mismatch);
  v("flaky", r.flaky), v("capture_s", r.capture_s), v("cpu_s", r.cpu_s), v("wall_s", r.wall_s);
  v("peak_rss_mb", r.peak_rss_mb), v("phase_s", r.phase_s), v("inputs", Raw{r.inputs_json});
  v("optional_passed", WhenAny{r.optional_passed}), v("optional_left_out", WhenAny{r.optional_left_out});
  v("ops_depth", WhenAny{r.ops_depth});
  v("inputs_digest", r.inputs_digest), v("sites", r.sites), v("segments", r.segments);
  v("mode_detail", Raw{r.mode_detail_json}), v("error", r.error), v("output_tail", r.output_tail);
  v("suggestion", WhenAny{r.suggestion}), v("sandbox", WhenAny{r.sandbox}), v("started_at", r.started_at);
}

template <class V, class T>
void DescribeCapture(V& v, T& r) {
  v("job", r.job_id), v("detail", r.detail), v("architecture", r.architecture), v("model_type", r.model_type);
  v("params", r.params), v("toolchain", r.toolchain);
  DescribeFindings(v, r);
}

template <class V, class T>
void DescribeInfo(V& v, T& i) {
  v("model", i.id), v("requested_id", i.requested_id), v("hub_id", i.hub_id), v("revision", i.sha);
  v("family", i.family), v("task", i.task), v("library", i.library), v("model_type", i.model_type);
  v("architectures", i.architectures), v("params", i.params), v("downloads", i.downloads), v("likes", i.likes);
  v("license", WhenAny{i.license}), v("gated", i.gated), v("private", i.is_private), v("disabled", i.disabled),
      v("custom_code", i.custom_code);
  v("config_source", i.config_source), v("rank", i.rank);
}

template <class V, class T>
void DescribePlanned(V& v, T& p) {
  DescribeInfo(v, p.info);
  v("config", Raw{p.config_json}), v("mode", p.mode), v("structure", p.structure), v("action", p.action);
  v("reason", p.reason), v("status", p.status), v("status_detail", p.detail), v("capture_id", p.capture_id);
  v("shared_from", p.shared_from), v("depth", p.depth), v("repeat", p.repeat);
  v("inputs_spec", Raw{p.inputs_spec_json}), v("dtype", WhenAny{p.dtype}), v("attention", WhenAny{p.attention});
  v("measure", RawWhenAny{p.measure_json}), v("fix", RawWhenAny{p.fix_json});
  v("repro", RawWhenAny{p.repro_json}), v("limits", WhenAny{p.limits});
}

template <class V, class T>
void DescribePlan(V& v, T& p) {
  v("sweep_id", p.sweep_id), v("source", p.source), v("ranked", p.ranked), v("track", p.track);
  v("rebuild", p.rebuild), v("toolchain", p.toolchain), v("primary", p.primary), v("models", p.models);
}

template <class V, class T>
void DescribeSweep(V& v, T& s) {
  v("sweep_id", s.id), v("trigger", s.trigger), v("source", s.source), v("ranked", s.ranked), v("state", s.state);
  v("started_at", s.started_at), v("finished_at", s.finished_at), v("planned", s.planned), v("complete", s.complete);
  v("toolchain", s.toolchain), v("statuses", s.statuses), v("modes", s.modes);
}

template <class V, class T>
void DescribeReason(V& v, T& r) {
  v("reason", r.reason), v("gb_id", r.gb_id), v("fixability", r.fixability), v("events", r.events), v("sites", r.sites);
}

template <class V, class T>
void DescribeNumbers(V& v, T& n) {
  v("commit", n.commit), v("capture_id", n.capture_id), v("structure", n.structure), v("sweep_id", n.sweep_id);
  v("captured_at", n.captured_at), v("graphs", n.graphs), v("ops_captured", n.ops_captured);
  v("frames_fallback", n.frames_fallback), v("recompiles", n.recompiles);
  v("dynamo_counter_breaks", n.dynamo_counter_breaks), v("explain_breaks", n.explain_breaks);
  v("reasons", n.reasons), v("phase_s", n.phase_s);
}

template <class V, class T>
void DescribeBackendTimes(V& v, T& b) {
  v("backend", b.backend), v("latency_s", b.latency_s), v("compile_s", b.compile_s);
}

template <class V, class T>
void DescribeMeasurement(V& v, T& m) {
  v("commit", m.commit), v("capture_id", m.capture_id), v("measured_at", m.measured_at), v("backends", m.backends);
  v("graphs_share", m.graphs_share);
}

template <class V, class T>
void DescribeReasonFixes(V& v, T& r) {
  v("reason", r.reason), v("gb_id", r.gb_id), v("fixability", r.fixability), v("removed_by", r.removed_by);
}

template <class V, class T>
void DescribeFixEffects(V& v, T& f) {
  v("commit", f.commit), v("capture_id", f.capture_id), v("chosen", WhenAny{f.chosen});
  v("best", f.best), v("outcome", f.outcome), v("outcomes", f.outcomes), v("reasons", f.reasons), v("sites", f.sites);
}

template <class V, class T>
void DescribeAttempt(V& v, T& a) {
  v("status", a.status), v("commit", a.commit);
}

template <class V, class T>
void DescribeTracked(V& v, T& t) {
  v("model", t.model), v("tracked", t.tracked), v("family", t.family), v("commit", t.commit), v("rank", t.rank);
  v("downloads", t.downloads), v("in_ranking", t.in_ranking), v("pinned", t.pinned);
  v("imported", t.imported);
  v("sweeps_unranked", t.sweeps_unranked), v("status", t.status), v("status_commit", t.status_commit);
  v("status_detail", t.detail), v("suggestion", WhenAny{t.suggestion}), v("attempted_at", t.attempted_at),
      v("attempts", t.attempts);
  v("numbers", t.numbers), v("measured", WhenAny{t.measured}), v("fixes", WhenAny{t.fixes});
}

template <class V, class T>
void DescribeRequest(V& v, T& r) {
  v("model", r.model), v("revision", r.revision), v("structure", r.structure), v("target", r.target);
  v("weights", r.weights), v("weights_digest", r.weights_digest), v("seed", r.seed), v("dtype", r.dtype);
  v("batch", r.batch), v("dynamic", r.dynamic), v("full", r.full), v("cpu_capability", r.cpu_capability);
  v("toolchain", r.toolchain);
}

template <class V, class T>
void DescribeStage(V& v, T& s) {
  v("stage", s.stage), v("place", WhenAny{s.place}), v("status", s.status), v("detail", s.detail);
  v("cause", WhenAny{s.cause}), v("package_id", s.package_id), v("reference", WhenAny{s.reference});
  v("started_at", s.started_at), v("seconds", s.seconds), v("directory", s.directory), v("log", s.log);
  v("report", Raw{s.report_json});
}

template <class V, class T>
void DescribePackageFile(V& v, T& f) {
  v("path", f.path), v("sha256", f.sha256), v("bytes", f.bytes);
}

template <class V, class T>
void DescribeManifest(V& v, T& m) {
  v("schema", m.schema), v("model", m.model), v("revision", m.revision), v("family", m.family);
  v("architecture", m.architecture), v("model_type", m.model_type), v("task", m.task), v("target", m.target);
  v("files", m.files), v("torch", m.torch), v("torch_abi", m.torch_abi), v("transformers", m.transformers);
  v("python", m.python), v("worker", m.worker), v("cpu_capability", m.cpu_capability), v("device", m.device);
  v("dtype", m.dtype), v("size", m.size), v("weights", Raw{m.weights_json}), v("inputs", Raw{m.inputs_json});
  v("outputs", Raw{m.outputs_json}), v("tolerance", Raw{m.tolerance_json}), v("batch", m.batch);
  v("dynamic", m.dynamic), v("structure", m.structure), v("breaks", m.breaks), v("graphs", m.graphs);
  v("built_at", m.built_at);
}

}  // namespace breakwatch::json_fields
