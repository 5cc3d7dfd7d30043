#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>
#include <type_traits>

#include "breakwatch/core/fix.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/measure.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/repro.h"
#include "breakwatch/core/saved_plan.h"
#include "breakwatch/core/text.h"
#include "json_enums.h"
#include "json_fields.h"
#include "json_parse.h"

namespace breakwatch {
namespace {

using json_fields::Raw;
using json_fields::RawWhenAny;
using json_fields::WhenAny;
using simdjson::dom::element;

// Limits for the output of a worker. Longer texts are truncated.
constexpr std::size_t kMaxReasonBytes = 120, kMaxTextBytes = 16 * 1024, kMaxLabelBytes = 1024;
constexpr std::size_t kMaxHints = 32, kMaxStackFrames = 32, kMaxInputsBytes = 256 * 1024;
constexpr std::size_t kMaxOptionalArguments = 64;
constexpr std::size_t kMaxPhases = 16, kMaxPhaseBytes = 64;
constexpr std::size_t kMaxSegments = 512, kMaxOpKinds = 32, kMaxTopOps = 16, kMaxOpBytes = 256;
constexpr std::size_t kMaxModeDetailBytes = 64 * 1024;
constexpr std::size_t kMaxDocumentBytes = 64u << 20;
constexpr int kMaxDocumentDepth = 100;

// Missing and null fields keep their defaults. Records the name of the first invalid field.
class Reader {
 public:
  // `strict`: the document was written by hand, so an unknown field is an error.
  explicit Reader(element in, bool strict = false) : strict_(strict) {
    if (in.get(in_)) error = Error{ErrorCode::kInvalid, "expected an object"};
    if (!error) next_ = in_.begin();
  }

  template <class T>
  void operator()(const char* name, T&& value) {
    if (error) return;
    if (strict_) known_.emplace_back(name);
    const auto found = Find(name);
    if (found && !found->is_null()) Read(name, *found, value);
  }

  // Call it after the last field.
  void Finish() {
    if (!strict_ || error) return;
    std::set<std::string> seen;
    for (const auto& field : in_) {
      const std::string name(field.key), quoted = "\"" + Truncate(ToUtf8(name), kMaxPhaseBytes) + "\"";
      if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
        const auto nearest = NearestName(name, known_);
        error = Error{ErrorCode::kInvalid,
                      "unknown field " + quoted + (nearest ? "; did you mean \"" + *nearest + "\"?" : "")};
        return;
      }
      if (!seen.insert(name).second) {
        error = Error{ErrorCode::kInvalid, "field " + quoted + " is there twice"};
        return;
      }
    }
  }

  std::optional<Error> error;

 private:
  // Begins after the field found last: documents have the order in which fields are read, and an object has no index.
  std::optional<element> Find(std::string_view name) {
    for (auto it = next_; it != in_.end(); ++it) {
      if (it.key() == name) return Found(it);
    }
    for (auto it = in_.begin(); it != next_; ++it) {
      if (it.key() == name) return Found(it);
    }
    return std::nullopt;
  }
  element Found(simdjson::dom::object::iterator it) {
    const element value = it.value();
    next_ = ++it;
    return value;
  }

  void Fail(const std::string& name, const std::string& expected) {
    if (!error) error = Error{ErrorCode::kInvalid, "field \"" + name + "\": expected " + expected};
  }

  void Read(const char* name, const element& in, std::string& out) {
    std::string_view text;
    if (in.get(text)) return Fail(name, "a text");
    out = ToUtf8(text);
  }
  void Read(const char* name, const element& in, bool& out) {
    if (in.get(out)) Fail(name, "true or false");
  }
  void Read(const char* name, const element& in, std::int64_t& out) {
    if (in.get(out)) Fail(name, "an integer");
  }
  void Read(const char* name, const element& in, int& out) {
    std::int64_t wide = 0;
    Read(name, in, wide);
    if (wide < INT32_MIN || wide > INT32_MAX) return Fail(name, "a number of 32 bits");
    out = static_cast<int>(wide);
  }
  void Read(const char* name, const element& in, double& out) {
    if (in.get(out)) Fail(name, "a number");
  }
  void Read(const char* name, const element& in, std::chrono::milliseconds& out) {
    double seconds = 0;
    Read(name, in, seconds);
    out = std::chrono::milliseconds(std::llround(seconds * 1000.0));
  }
  void Read(const char* name, const element& in, SystemTime& out) {
    std::string_view text;
    const auto time = in.get(text) ? std::nullopt : ParseTime(text);
    if (!time) return Fail(name, "a time such as 2026-01-31T12:00:00Z");
    out = *time;
  }
  void Read(const char*, const element& in, const Raw<std::string>& out) { out.text = JsonText(in); }
  void Read(const char*, const element& in, const RawWhenAny<std::string>& out) { out.text = JsonText(in); }
  template <class T>
  void Read(const char* name, const element& in, const WhenAny<T>& out) {
    Read(name, in, out.value);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void Read(const char* name, const element& in, Enum& out) {
    std::string_view text;
    if (in.get(text) || !json_fields::Unspell(text, out)) Fail(name, "one of the documented names");
  }
  template <class T>
  void Read(const char* name, const element& in, std::optional<T>& out) {
    T value{};
    Read(name, in, value);
    if (!error) out = std::move(value);
  }
  template <class T>
  void Read(const char* name, const element& in, std::vector<T>& out) {
    simdjson::dom::array list;
    if (in.get(list)) return Fail(name, "a list");
    out.clear();
    for (const element one : list) {
      Read(name, one, out.emplace_back());
      if (!error) continue;
      error.reset();  // repeat to find the element with the error
      return Read((name + ("[" + std::to_string(out.size() - 1) + "]")).c_str(), one, out.back());
    }
  }
  template <class T>
  void Read(const char* name, const element& in, std::map<std::string, T>& out) {
    simdjson::dom::object fields;
    if (in.get(fields)) return Fail(name, "an object");
    out.clear();
    for (const auto& field : fields) {
      // NaN and infinities are written as null.
      if (!field.value.is_null()) Read(name, field.value, out[ToUtf8(field.key)]);
    }
  }

  template <class Fill>
  void Nested(const char* name, const element& in, const Fill& fill) {
    Reader reader(in, strict_);
    fill(reader);
    reader.Finish();
    if (reader.error && !error) error = reader.error->Within(name);
  }
  void Read(const char* n, const element& in, Toolchain& t) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribeToolchain(r, t); });
  }
  void Read(const char* n, const element& in, LimitOverrides& l) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribeLimitOverrides(r, l); });
  }
  void Read(const char* n, const element& in, BreakSite& s) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribeSite(r, s); });
  }
  void Read(const char* n, const element& in, GraphSegment& s) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribeSegment(r, s); });
  }
  void Read(const char* n, const element& in, PlannedModel& p) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribePlanned(r, p); });
  }
  void Read(const char* n, const element& in, ReasonCount& c) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribeReason(r, c); });
  }
  void Read(const char* n, const element& in, Attempt& a) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribeAttempt(r, a); });
  }
  void Read(const char* n, const element& in, Numbers& v) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribeNumbers(r, v); });
  }
  void Read(const char* n, const element& in, PackageFile& f) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribePackageFile(r, f); });
  }
  void Read(const char* n, const element& in, ReasonFixes& r) {
    Nested(n, in, [&](Reader& reader) { json_fields::DescribeReasonFixes(reader, r); });
  }
  void Read(const char* n, const element& in, FixEffects& f) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribeFixEffects(r, f); });
  }
  void Read(const char* n, const element& in, BackendTimes& b) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribeBackendTimes(r, b); });
  }
  void Read(const char* n, const element& in, Measurement& m) {
    Nested(n, in, [&](Reader& r) { json_fields::DescribeMeasurement(r, m); });
  }

  simdjson::dom::object in_;
  const bool strict_;
  simdjson::dom::object::iterator next_;
  std::vector<std::string> known_;
};

template <class T, class Fill>
Result<T> Document(std::string_view text, const Fill& fill, bool strict = false) {
  simdjson::dom::parser parser;
  const auto in = ParseJson(parser, text, kMaxDocumentBytes, kMaxDocumentDepth);
  if (!in) return in.error();
  T value;
  Reader reader(*in, strict);
  fill(reader, value);
  reader.Finish();
  if (reader.error) return *reader.error;
  return value;
}

void Cut(std::string& text, std::size_t max_bytes) {
  if (text.size() > max_bytes) text = Truncate(text, max_bytes);
}

void Bound(BreakSite& site) {
  for (std::string* label : {&site.site_id, &site.fixability, &site.file, &site.function, &site.source_line,
                             &site.frame, &site.wrapped_in, &site.compile_id, &site.module_path}) {
    Cut(*label, kMaxLabelBytes);
  }
  Cut(site.reason, kMaxReasonBytes), Cut(site.gb_id, 16);
  if (site.reason.empty()) site.reason = "unattributed";  // an empty label means no label
  Cut(site.explanation, kMaxTextBytes), Cut(site.context, kMaxTextBytes);
  if (site.hints.size() > kMaxHints) site.hints.resize(kMaxHints);
  for (std::string& hint : site.hints) Cut(hint, kMaxTextBytes);
  if (site.stack.size() > kMaxStackFrames) site.stack.resize(kMaxStackFrames);
  if (site.stack_source.size() > site.stack.size()) site.stack_source.resize(site.stack.size());
  for (std::string& frame : site.stack) Cut(frame, kMaxLabelBytes);
  for (std::string& line : site.stack_source) Cut(line, kMaxLabelBytes);
}

template <class Value>
void Bound(std::map<std::string, Value>& values, std::size_t max_values, std::size_t max_name_bytes) {
  std::erase_if(values, [&](const auto& value) { return value.first.size() > max_name_bytes; });
  while (values.size() > max_values) values.erase(std::prev(values.end()));
}

void Bound(GraphSegment& segment) {
  for (std::string* label : {&segment.compile_id, &segment.file, &segment.function, &segment.ended_by}) {
    Cut(*label, kMaxLabelBytes);
  }
  Bound(segment.ops, kMaxOpKinds, kMaxOpBytes), Bound(segment.top_ops, kMaxTopOps, kMaxOpBytes);
}

// A worker runs untrusted code, so its output is truncated before it is stored.
void Bound(CaptureResult& result) {
  for (std::string* label : {&result.phase, &result.architecture, &result.model_type, &result.mode, &result.device,
                             &result.dtype, &result.depth, &result.ops_depth, &result.inputs_digest}) {
    Cut(*label, kMaxLabelBytes);
  }
  for (auto* names : {&result.optional_passed, &result.optional_left_out}) {
    if (names->size() > kMaxOptionalArguments) names->resize(kMaxOptionalArguments);
    for (std::string& name : *names) Cut(name, kMaxLabelBytes);
  }
  for (std::string* line : {&result.detail, &result.suggestion}) *line = ShortLine(*line, kMaxLabelBytes);
  Cut(result.error, kMaxTextBytes), Cut(result.output_tail, kMaxTextBytes);
  if (result.inputs_json.size() > kMaxInputsBytes) result.inputs_json.clear();
  const std::size_t max_detail = IsMeasureMode(result.mode) ? kMaxMeasuredBytes : kMaxModeDetailBytes;
  if (result.mode_detail_json.size() > max_detail) result.mode_detail_json.clear();
  Bound(result.phase_s, kMaxPhases, kMaxPhaseBytes);
  for (BreakSite& site : result.sites) Bound(site);
  if (result.segments.size() > kMaxSegments) result.segments.resize(kMaxSegments);
  for (GraphSegment& segment : result.segments) Bound(segment);
}

}  // namespace

Result<Toolchain> ToolchainFromJson(std::string_view text) {
  return Document<Toolchain>(text, [](Reader& r, Toolchain& t) { json_fields::DescribeToolchain(r, t); });
}

Result<CaptureResult> CaptureResultFromJson(std::string_view text) {
  auto result = Document<CaptureResult>(text, [](Reader& r, CaptureResult& c) {
    r("remedy", c.suggestion);  // the former name, in documents of older stores and older workers
    json_fields::DescribeCapture(r, c);
  });
  if (!result) return result;
  Bound(*result);
  if (result->detail.empty()) result->detail = StatusName(result->status);
  return result;
}

Result<ModelResult> ModelResultFromJson(std::string_view text) {
  return Document<ModelResult>(text, [](Reader& r, ModelResult& m) {
    CaptureResult& c = m.capture;
    r("sweep_id", m.sweep_id);
    json_fields::DescribeInfo(r, m.info);
    r("architecture", c.architecture), r("model_type", c.model_type), r("captured_params", c.params);
    r("status_detail", c.detail);
    json_fields::DescribeFindings(r, c);
    r("toolchain", c.toolchain.name), r("torch", c.toolchain.torch), r("transformers", c.toolchain.transformers);
    r("python", c.toolchain.python), r("worker", c.toolchain.worker), r("toolchain_device", c.toolchain.device);
    r("structure", m.structure), r("capture_id", m.capture_id), r("shared_from", m.shared_from);
    r("rebuild_reason", m.rebuild_reason), r("reused", m.reused), r("finished_at", m.finished_at);
  });
}

Result<Plan> PlanFromJson(std::string_view text) {
  return Document<Plan>(text, [](Reader& r, Plan& p) { json_fields::DescribePlan(r, p); });
}

// The options of a mode in a plan. Error: kInvalid, naming the field.
template <class Options>
Result<void> CheckOptions(const std::string& at, const char* name, const std::string& text,
                          Result<Options> (*read)(std::string_view, Options)) {
  if (text.empty()) return {};
  if (auto options = read(text, {}); !options)
    return Error{ErrorCode::kInvalid, at + "\"" + name + "\": " + options.error().message};
  return {};
}

Result<Plan> SavedPlanFromJson(std::string_view text) {
  int schema = 0;
  auto plan = Document<Plan>(
      text, [&](Reader& r, Plan& p) { r("schema", schema), json_fields::DescribePlan(r, p); }, /*strict=*/true);
  if (!plan) return plan;
  if (schema != json_fields::kSchema) {
    return Error{ErrorCode::kInvalid, "field \"schema\": expected " + std::to_string(json_fields::kSchema) +
                                          ", as `breakwatch plan --output` writes it"};
  }
  for (std::size_t i = 0; i < plan->models.size(); ++i) {
    const std::string at = "models[" + std::to_string(i) + "]: field ";
    const PlannedModel& planned = plan->models[i];
    if (!planned.config_json.empty() && planned.config_json.front() != '{') {
      return Error{ErrorCode::kInvalid, at + "\"config\": expected an object"};
    }
    if (auto checked = CheckOptions<MeasureOptions>(at, "measure", planned.measure_json, MeasureOptionsFromJson);
        !checked)
      return checked.error();
    if (auto checked = CheckOptions<FixOptions>(at, "fix", planned.fix_json, FixOptionsFromJson); !checked)
      return checked.error();
    if (auto checked = CheckOptions<ReproOptions>(at, "repro", planned.repro_json, ReproOptionsFromJson); !checked)
      return checked.error();
  }
  return plan;
}
Result<Sweep> SweepFromJson(std::string_view text) {
  return Document<Sweep>(text, [](Reader& r, Sweep& s) { json_fields::DescribeSweep(r, s); });
}
Result<TrackedModel> TrackedModelFromJson(std::string_view text) {
  return Document<TrackedModel>(text, [](Reader& r, TrackedModel& t) {
    r("remedy", t.suggestion);
    json_fields::DescribeTracked(r, t);
  });
}
Result<ArtifactRequest> ArtifactRequestFromJson(std::string_view text) {
  return Document<ArtifactRequest>(text, [](Reader& r, ArtifactRequest& a) { json_fields::DescribeRequest(r, a); });
}
Result<StageRecord> StageRecordFromJson(std::string_view text) {
  return Document<StageRecord>(text, [](Reader& r, StageRecord& s) { json_fields::DescribeStage(r, s); });
}
Result<Manifest> ManifestFromJson(std::string_view text) {
  return Document<Manifest>(text, [](Reader& r, Manifest& m) { json_fields::DescribeManifest(r, m); });
}

}  // namespace breakwatch
