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

// What one process may make us remember.
constexpr std::size_t kMaxStringBytes = 32u << 20, kMaxOpen = 4096, kMaxSegments = 512, kMaxPath = 4096;

// Ends after which Dynamo itself goes on: the frame is left to Python, and the job does not notice.
constexpr std::array<std::string_view, 5> kSoftFailures = {"SkipFrame", "SkipCodeRecursiveException",
                                                           "RecompileLimitExceeded", "RestartAnalysis",
                                                           "UnspecializeRestartAnalysis"};

// Of an `Unsupported` after which it goes on, too: where the job must not, it is a FailOnRecompileLimitHit.
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

// A compilation that is known to have begun. One that neither began nor ended in the file is not among them.
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
  open_.erase(id);  // begun twice: the first did not end
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
  if (const auto open = open_.find(event->compile_id); open != open_.end()) {
    ++open->second.events;
    open->second.last_site = event->site_id;
  }
  found_.AddBreak(*std::move(event));
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
  if (found_.segments.size() >= kMaxSegments) return;
  GraphSegment segment;
  segment.index = static_cast<int>(found_.segments.size());
  segment.compile_id = record.id.Text();
  if (const auto open = open_.find(segment.compile_id); open != open_.end()) {
    Open& compile = open->second;
    segment.file = compile.file;
    segment.line = compile.line;
    segment.function = compile.function;
    segment.ended_by = compile.last_site;
    if (compile.segments++ == 0) compile.first_segment = found_.segments.size();
  }
  found_.segments.push_back(std::move(segment));
}

// Counts are of the whole compilation: they describe a graph only where it is the only one.
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
  // A backward and what is compiled while running come again under their forward's id.
  if (!record.id.known() || metrics.is_runtime || metrics.is_backward) return;
  TakeEnd(record, metrics);
}

void ProcessFold::TakeEnd(const Record& record, const CompileMetrics& metrics) {
  const std::string id = record.id.Text();
  const Open open = std::exchange(Begin(id, record.id), {});
  open_.erase(id);
  ++found_.ended;
  if (!metrics.guarded_code) found_.knows_code = false;
  if (metrics.guarded_code == false) ++found_.fallbacks;
  if (metrics.ops) found_.ops = found_.ops.value_or(0) + *metrics.ops;
  DescribeSegments(open, metrics);
  if (!metrics.recompile_reason.empty() && !reasons_in_artifacts_) {
    reasons_in_metrics_ = true;
    found_.AddRecompileReason(metrics.recompile_reason);
  }
  if (metrics.restarted_by_break && open.events == 0) ++found_.unexplained;
  if (metrics.fail_type.empty()) return;
  // An `Unsupported` that was logged as a break is one; without, it was raised: a whole graph was asked for.
  const bool logged = metrics.fail_type == "Unsupported" && open.events > 0;
  const bool expected = logged || metrics.fail_reason.starts_with(kLimit) ||
                        std::find(kSoftFailures.begin(), kSoftFailures.end(), metrics.fail_type) != kSoftFailures.end();
  const Failure failure{id, metrics.fail_type, metrics.fail_reason};
  if (!expected && metrics.suppress_errors.value_or(false) && ++found_.suppressed == 1)
    found_.first_suppressed = failure;
  found_.AddFailure(failure, !expected && !metrics.suppress_errors.value_or(false), metrics.traceback);
}

}  // namespace breakwatch::trace
