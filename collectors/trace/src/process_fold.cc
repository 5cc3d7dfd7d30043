#include "process_fold.h"

#include <algorithm>
#include <array>
#include <utility>

#include "break_text.h"
#include "breakwatch/core/text.h"
#include "json_scan.h"
#include "place.h"

namespace breakwatch::trace {
namespace {

// Bounds the memory that one process of a trace can use.
constexpr std::size_t kMaxStringBytes = 32u << 20, kMaxOpen = 4096, kMaxSegments = 512, kMaxPath = 4096;

// Failures that Dynamo handles itself: it runs the frame eagerly, and the job continues.
constexpr std::array<std::string_view, 5> kSoftFailures = {"SkipFrame", "SkipCodeRecursiveException",
                                                           "RecompileLimitExceeded", "RestartAnalysis",
                                                           "UnspecializeRestartAnalysis"};

// Dynamo also handles an `Unsupported` with kLimit. Where it may not skip, it raises FailOnRecompileLimitHit instead.
constexpr std::string_view kInLoop = "Skipping frame because there is a graph break in a for/while loop";
constexpr std::string_view kLimit = "Dynamo recompile limit exceeded";

std::string Text(const std::string& text, std::size_t max) { return Truncate(ToUtf8(text), max); }

}  // namespace

void ProcessFold::Add(const Record& record) {
  using Take = void (ProcessFold::*)(const Record&);
  static constexpr std::array<std::pair<std::string_view, Take>, 5> kKinds = {{
      {"str", &ProcessFold::TakeString},
      {"dynamo_start", &ProcessFold::TakeStart},
      {"artifact", &ProcessFold::TakeArtifact},
      {"dynamo_output_graph", &ProcessFold::TakeGraph},
      {"compilation_metrics", &ProcessFold::TakeMetrics},
  }};
  if (torch_root_.empty()) torch_root_ = TorchRootOf(record.written_at);
  for (const auto& [kind, take] : kKinds) {
    if (record.kind == kind) (this->*take)(record);
  }
}

void ProcessFold::Finish() { found_.compile_s += seconds_.Total(); }

void ProcessFold::TakeString(const Record& record) {
  const auto id = AsInt(Element(record.value, 1));
  auto text = AsString(Element(record.value, 0), kMaxPath);
  if (!id || !text || string_bytes_ + text->size() > kMaxStringBytes) return;
  string_bytes_ += text->size() + 64;
  strings_.insert_or_assign(*id, *std::move(text));
}

// Returns the open compilation, and counts it if it is new. One that neither began nor ended in the file is not
// counted.
ProcessFold::Open& ProcessFold::Begin(const std::string& compile_id, const CompileId& id) {
  const auto [it, fresh] = open_.try_emplace(compile_id);
  if (fresh) {
    ++found_.compiles;
    found_.recompiles += id.IsRecompile() ? 1 : 0;
    if (open_.size() > kMaxOpen) open_.erase(it == open_.begin() ? std::next(it) : open_.begin());
  }
  return it->second;
}

void ProcessFold::TakeStart(const Record& record) {
  if (!record.id.known()) return;
  const std::string id = record.id.Text();
  open_.erase(id);  // a second start: the first compilation did not end
  Open& open = Begin(id, record.id);
  const std::string_view frame = Element(Member(record.value, "stack"), -1);
  if (!IsObject(frame)) return;
  const auto file = strings_.find(AsInt(Member(frame, "filename")).value_or(-1));
  if (file != strings_.end()) open.file = ToUtf8(RelativeFile(file->second, torch_root_).file);
  open.line = static_cast<int>(std::clamp<std::int64_t>(AsInt(Member(frame, "line")).value_or(0), 0, 1 << 30));
  open.function = Text(PlainFunction(AsString(Member(frame, "name"), kMaxPath).value_or("")), 300);
}

void ProcessFold::TakeArtifact(const Record& record) {
  using Take = void (ProcessFold::*)(const Record&);
  static constexpr std::array<std::pair<std::string_view, Take>, 3> kNames = {{
      {"dynamo_graph_break_reason", &ProcessFold::TakeBreak},
      {"recompile_reasons", &ProcessFold::TakeRecompileReasons},
      {"torch_version", &ProcessFold::TakeVersion},
  }};
  for (const auto& [name, take] : kNames) {
    if (record.name == name) (this->*take)(record);
  }
}

void ProcessFold::TakeBreak(const Record& record) {
  auto event = ParseBreak(record.payload, torch_root_, files_);
  if (!event) {
    ++found_.skips;
    return;
  }
  event->compile_id = record.id.Text();
  const auto found = open_.find(event->compile_id);
  Open* open = found == open_.end() ? nullptr : &found->second;
  logs_as_older_ = logs_as_older_ || IsOldLog(record.payload);
  if (open != nullptr && open->jump) {
    // In an inlined callee Dynamo logs the break twice, inside and then outside. Count it once.
    if (IsOldLog(record.payload, kOldInlined)) open->jump.reset();
    CountJump(*open);
  }
  if (open != nullptr && IsOldLog(record.payload, kOldJump)) {
    open->jump = *std::move(event);
    return;
  }
  CountEvent(*std::move(event), open);
}

void ProcessFold::CountEvent(BreakSite event, Open* open) {
  if (open != nullptr) {
    ++open->events;
    open->last_site = event.site_id;
  }
  found_.AddBreak(std::move(event));
}

void ProcessFold::CountJump(Open& open) {
  if (open.jump) CountEvent(*std::exchange(open.jump, std::nullopt), &open);
}

// Counts breaks that older releases do not log: one that skips the frame, and one that steps back to an earlier
// instruction. The metrics contain the text of the former, and only a marker for the latter. Returns true if the frame
// was skipped.
bool ProcessFold::CountUnlogged(const std::string& id, Open& open, const CompileMetrics& metrics, bool jumped) {
  constexpr std::string_view kStepBack = "Unknown fail_and_restart_analysis";
  if (open.events == 0) {
    for (const std::string& text : metrics.old_restarts) {
      const bool step = text == kStepBack;
      BreakSite event = UnloggedBreak(step ? std::string_view("Step unsupported") : text,
                                      {metrics.file, metrics.line.value_or(0), metrics.function, "cannot resume"},
                                      torch_root_, files_);
      event.compile_id = id;
      CountEvent(std::move(event), &open);
    }
  }
  // A newer release logs the break. If it was not logged, a full graph was required.
  const bool older = logs_as_older_ || IsOldText(metrics.fail_reason);
  if (metrics.fail_type != "Unsupported" || !older || metrics.fail_reason.starts_with(kLimit)) return false;
  // This is the branch on a value that was already logged inside the callee.
  if (jumped && metrics.fail_reason.find(kOldInlined) != std::string::npos) return true;
  BreakSite event =
      UnloggedBreak(metrics.fail_reason, {metrics.fail_file, metrics.fail_line.value_or(0), {}, "frame skipped"},
                    torch_root_, files_);
  event.compile_id = id;
  CountEvent(std::move(event), &open);
  return true;
}

void ProcessFold::TakeRecompileReasons(const Record& record) {
  if (reasons_in_metrics_) return;
  reasons_in_artifacts_ = true;
  const std::string_view first = Element(record.payload, 0);
  if (auto text = AsString(first, kMaxPath)) found_.AddRecompileReason(*std::move(text));
}

void ProcessFold::TakeVersion(const Record& record) {
  if (found_.torch.empty())
    found_.torch = Text(AsString(Member(record.payload, "pytorch_version"), 64).value_or(""), 64);
}

void ProcessFold::TakeGraph(const Record& record) {
  ++found_.graphs;
  const auto open = open_.find(record.id.Text());
  if (open != open_.end()) ++open->second.graphs, CountJump(open->second);
  if (found_.segments.size() >= kMaxSegments) return;
  GraphSegment segment;
  segment.index = static_cast<int>(found_.segments.size());
  segment.compile_id = record.id.Text();
  if (open != open_.end()) {
    Open& compile = open->second;
    segment.file = compile.file;
    segment.line = compile.line;
    segment.function = compile.function;
    segment.ended_by = compile.last_site;
    if (compile.segments++ == 0) compile.first_segment = found_.segments.size();
  }
  found_.segments.push_back(std::move(segment));
}

// Removes a graph without operations. Dynamo creates it, but newer releases do not pass it to the backend. Graphs are
// counted at the backend.
void ProcessFold::TakeBackGraph(const Open& open) {
  found_.graphs -= open.graphs;
  if (open.segments != 1) return;
  found_.segments.erase(found_.segments.begin() + static_cast<std::ptrdiff_t>(open.first_segment));
  for (std::size_t i = open.first_segment; i < found_.segments.size(); ++i) {
    found_.segments[i].index = static_cast<int>(i);
  }
  for (auto& [id, other] : open_) {
    if (other.segments > 0 && other.first_segment > open.first_segment) --other.first_segment;
  }
}

// The counts are totals of the compilation. They describe a graph only if it is the only one.
void ProcessFold::DescribeSegments(const Open& open, const CompileMetrics& metrics) {
  if (open.segments != 1) return;
  GraphSegment& segment = found_.segments[open.first_segment];
  segment.ops_total = metrics.ops;
  segment.inputs = metrics.inputs;
  segment.guards = metrics.guards;
  if (!segment.file.empty() || metrics.file.empty()) return;
  segment.file = Text(RelativeFile(metrics.file, torch_root_).file, kMaxPath);
  segment.function = Text(PlainFunction(metrics.function), 300);
  segment.line = static_cast<int>(std::clamp<std::int64_t>(metrics.line.value_or(0), 0, 1 << 30));
}

void ProcessFold::TakeMetrics(const Record& record) {
  if (!IsObject(record.value)) return;
  const CompileMetrics metrics = ReadMetrics(record.value);
  if (metrics.seconds) seconds_.Add(metrics.started_s, *metrics.seconds);
  if (metrics.started_s) found_.started_s = std::min(found_.started_s.value_or(*metrics.started_s), *metrics.started_s);
  found_.backend_s += std::max(0.0, metrics.backend_s.value_or(0));
  found_.inductor_s += std::max(0.0, metrics.inductor_s.value_or(0));
  if (found_.torch.empty()) found_.torch = Text(metrics.torch, 64);
  if (found_.python.empty()) found_.python = Text(metrics.python, 64);
  // The backward pass and compilations at run time repeat the id of their forward.
  if (!record.id.known() || metrics.is_runtime || metrics.is_backward) {
    if (metrics.fail_type.empty()) return;
    const bool suppresses = metrics.suppress_errors.value_or(false);
    const Failure failure{record.id.Text(), metrics.fail_type, metrics.fail_reason};
    if (suppresses && ++found_.suppressed == 1) found_.first_suppressed = failure;
    found_.AddFailure(failure, !suppresses, metrics.traceback);
    return;
  }
  TakeEnd(record, metrics);
}

void ProcessFold::TakeEnd(const Record& record, const CompileMetrics& metrics) {
  const std::string id = record.id.Text();
  Open open = std::exchange(Begin(id, record.id), {});
  open_.erase(id);
  ++found_.ended;
  const bool jumped = open.jump.has_value();
  CountJump(open);
  // Older releases log a break in a loop like any other, and then skip the frame.
  if (metrics.fail_type == "SkipFrame" && metrics.fail_reason.starts_with(kInLoop)) {
    found_.Wrap(open.last_site, "graph break in loop / frame skipped");
  }
  const bool left = CountUnlogged(id, open, metrics, jumped);
  if (!metrics.guarded_code) found_.knows_code = false;
  if (metrics.guarded_code == false) ++found_.fallbacks;
  if (metrics.ops) found_.ops = found_.ops.value_or(0) + *metrics.ops;
  if (open.graphs == 1 && metrics.ops == 0 && metrics.no_backend) {
    TakeBackGraph(open);
  } else {
    DescribeSegments(open, metrics);
  }
  if (!metrics.recompile_reason.empty() && !reasons_in_artifacts_) {
    reasons_in_metrics_ = true;
    found_.AddRecompileReason(metrics.recompile_reason);
  }
  if (metrics.restarted_by_break && open.events == 0) ++found_.unexplained;
  if (metrics.fail_type.empty()) return;
  // An `Unsupported` that was logged is a break. One that was not logged was raised, because a full graph was required.
  const bool logged = metrics.fail_type == "Unsupported" && open.events > 0;
  const bool expected = left || logged || metrics.fail_reason.starts_with(kLimit) ||
                        std::find(kSoftFailures.begin(), kSoftFailures.end(), metrics.fail_type) != kSoftFailures.end();
  const Failure failure{id, metrics.fail_type, metrics.fail_reason};
  if (!expected && metrics.suppress_errors.value_or(false) && ++found_.suppressed == 1)
    found_.first_suppressed = failure;
  found_.AddFailure(failure, !expected && !metrics.suppress_errors.value_or(false), metrics.traceback);
}

}  // namespace breakwatch::trace
