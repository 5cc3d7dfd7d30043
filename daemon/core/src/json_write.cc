#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "breakwatch/core/event.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "json_enums.h"
#include "json_fields.h"
#include "json_parse.h"

namespace breakwatch {
namespace {

using json_fields::Raw;
using json_fields::RawWhenAny;
using json_fields::WhenAny;
using nlohmann::json;

constexpr std::string_view kNull = "null";
// In place of a raw text that is none, so that the document is none either: who stores it checks that.
constexpr std::string_view kNoJson = "<discarded>";
constexpr std::size_t kMaxRawBytes = 64u << 20;
constexpr int kMaxRawDepth = 100;

// Whether a text is the same in JSON, between quotes.
bool IsPlain(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte > 0x7F || c == '"' || c == '\\';
  });
}

// Appends a document as text, field by field: no value of nlohmann's is made but for what needs its rules.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) { out_ += '{'; }

  template <class T>
  void operator()(const char* name, const T& value) {
    Name(name);
    Put(value);
  }
  template <class T>
  void operator()(const char* name, const WhenAny<const T>& field) {
    if (!field.value.empty()) (*this)(name, field.value);
  }
  void operator()(const char* name, const RawWhenAny<const std::string>& field) {
    if (!field.text.empty()) (*this)(name, Raw<const std::string>{field.text});
  }

  // Call it after the last field.
  void Finish() { out_ += '}'; }

 private:
  void Name(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    PutText(name);
    out_ += ':';
  }
  void PutText(std::string_view text) {
    if (!IsPlain(text)) {
      out_ += JsonText(json(text));
      return;
    }
    out_ += '"';
    out_ += text;
    out_ += '"';
  }

  void Put(const std::string& text) { PutText(text); }
  void Put(bool value) { out_ += value ? "true" : "false"; }
  void Put(int value) { Put(std::int64_t{value}); }
  void Put(std::int64_t value) {
    std::array<char, 24> digits{};
    out_.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
  }
  // JSON cannot represent NaN or infinity.
  void Put(double value) { out_ += std::isfinite(value) ? JsonText(json(value)) : kNull; }
  void Put(SystemTime time) { time == SystemTime{} ? void(out_ += kNull) : PutText(FormatTime(time)); }
  void Put(std::chrono::milliseconds time) { Put(static_cast<double>(time.count()) / 1000.0); }
  void Put(const Raw<const std::string>& raw) {
    if (raw.text.empty()) {
      out_ += kNull;
      return;
    }
    simdjson::dom::parser parser;
    const auto value = ParseJson(parser, raw.text, kMaxRawBytes, kMaxRawDepth);
    out_ += value ? JsonText(*value) : kNoJson;
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void Put(Enum value) { PutText(json_fields::Spell(value)); }
  template <class T>
  void Put(const std::optional<T>& value) {
    value ? Put(*value) : void(out_ += kNull);
  }
  template <class T>
  void Put(const std::vector<T>& values) {
    out_ += '[';
    for (const T& value : values) {
      if (&value != values.data()) out_ += ',';
      Put(value);
    }
    out_ += ']';
  }
  template <class T>
  void Put(const std::map<std::string, T>& values) {
    Writer fields(out_);
    for (const auto& [key, value] : values) {
      fields.Name(key);
      fields.Put(value);
    }
    fields.Finish();
  }

  void Put(const Toolchain& t) {
    Nested([&](Writer& w) { json_fields::DescribeToolchain(w, t); });
  }
  void Put(const CaptureLimits& l) {
    Nested([&](Writer& w) { json_fields::DescribeLimits(w, l); });
  }
  void Put(const LimitOverrides& l) {
    Nested([&](Writer& w) { json_fields::DescribeLimitOverrides(w, l); });
  }
  void Put(const BreakSite& s) {
    Nested([&](Writer& w) { json_fields::DescribeSite(w, s); });
  }
  void Put(const GraphSegment& s) {
    Nested([&](Writer& w) { json_fields::DescribeSegment(w, s); });
  }
  void Put(const PlannedModel& p) {
    Nested([&](Writer& w) { json_fields::DescribePlanned(w, p); });
  }
  void Put(const ReasonCount& r) {
    Nested([&](Writer& w) { json_fields::DescribeReason(w, r); });
  }
  void Put(const Attempt& a) {
    Nested([&](Writer& w) { json_fields::DescribeAttempt(w, a); });
  }
  void Put(const Numbers& n) {
    Nested([&](Writer& w) { json_fields::DescribeNumbers(w, n); });
  }
  void Put(const StageRecord& s) {
    Nested([&](Writer& w) { json_fields::DescribeStage(w, s); });
  }
  void Put(const ReasonFixes& r) {
    Nested([&](Writer& w) { json_fields::DescribeReasonFixes(w, r); });
  }
  void Put(const FixEffects& f) {
    Nested([&](Writer& w) { json_fields::DescribeFixEffects(w, f); });
  }
  void Put(const BackendTimes& b) {
    Nested([&](Writer& w) { json_fields::DescribeBackendTimes(w, b); });
  }
  void Put(const Measurement& m) {
    Nested([&](Writer& w) { json_fields::DescribeMeasurement(w, m); });
  }

  template <class Fill>
  void Nested(const Fill& fill) {
    Writer writer(out_);
    fill(writer);
    writer.Finish();
  }

  std::string& out_;
};

template <class Fill>
std::string Document(const Fill& fill) {
  std::string text;
  Writer writer(text);
  fill(writer);
  writer.Finish();
  return text;
}

}  // namespace

std::string ToJson(const Toolchain& t) {
  return Document([&](Writer& w) { json_fields::DescribeToolchain(w, t); });
}
std::string ToJson(const CaptureJob& job) {
  return Document([&](Writer& w) { json_fields::DescribeJob(w, job); });
}
std::string ToJson(const CaptureResult& result) {
  return Document([&](Writer& w) { json_fields::DescribeCapture(w, result); });
}
std::string ToJson(const Plan& plan) {
  return Document([&](Writer& w) { w("schema", json_fields::kSchema), json_fields::DescribePlan(w, plan); });
}
std::string ToJson(const PlannedModel& planned) {
  return Document([&](Writer& w) { json_fields::DescribePlanned(w, planned); });
}
std::string ToJson(const Sweep& sweep) {
  return Document([&](Writer& w) { w("schema", json_fields::kSchema), json_fields::DescribeSweep(w, sweep); });
}
std::string ToJson(const TrackedModel& model) {
  return Document([&](Writer& w) { json_fields::DescribeTracked(w, model); });
}
std::string ToJson(const ArtifactRequest& request) {
  return Document([&](Writer& w) { json_fields::DescribeRequest(w, request); });
}
std::string ToJson(const StageRecord& record) {
  return Document([&](Writer& w) { json_fields::DescribeStage(w, record); });
}
std::string ToJson(const Artifact& a) {
  return Document([&](Writer& w) {
    w("key", a.key), w("package_id", a.PackageId()), w("state", a.State()), w("created_at", a.created_at);
    json_fields::DescribeRequest(w, a.request);
    w("stages", a.stages);
  });
}

std::string ToJson(const ModelResult& r) {
  const CaptureResult& c = r.capture;
  return Document([&](Writer& w) {
    w("schema", json_fields::kSchema), w("sweep_id", r.sweep_id);
    ModelInfo info = r.info;
    if (info.model_type.empty()) info.model_type = c.model_type;
    if (!info.params) info.params = c.params;
    json_fields::DescribeInfo(w, std::as_const(info));
    const bool known = !c.architecture.empty() || r.info.architectures.empty();
    w("architecture", known ? c.architecture : r.info.architectures.front());
    w("captured_params", c.params), w("status_detail", c.detail);
    json_fields::DescribeFindings(w, c);
    w("toolchain", c.toolchain.name), w("torch", c.toolchain.torch), w("transformers", c.toolchain.transformers);
    w("python", c.toolchain.python), w("worker", c.toolchain.worker), w("toolchain_device", c.toolchain.device);
    w("structure", r.structure), w("capture_id", r.capture_id), w("shared_from", r.shared_from);
    w("rebuild_reason", r.rebuild_reason), w("reused", r.reused), w("finished_at", r.finished_at);
    if (!r.owners.empty()) w("owners", r.owners);
  });
}

}  // namespace breakwatch
