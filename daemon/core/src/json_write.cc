#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "breakwatch/core/event.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "json_enums.h"
#include "json_fields.h"

namespace breakwatch {
namespace {

using json_fields::Raw;
using json_fields::RawWhenAny;
using json_fields::WhenAny;
using nlohmann::json;
using nlohmann::ordered_json;

class Writer {
 public:
  template <class T>
  void operator()(const char* name, const T& value) {
    Add(name, Value(value));
  }
  template <class T>
  void operator()(const char* name, const WhenAny<const T>& field) {
    if (!field.value.empty()) Add(name, Value(field.value));
  }

  void operator()(const char* name, const RawWhenAny<const std::string>& field) {
    if (!field.text.empty()) Add(name, Value(Raw{field.text}));
  }
  // Of a field that was written before.
  template <class T>
  void Replace(const char* name, const T& value) {
    out[name] = Value(value);
  }

  ordered_json out = ordered_json::object();

 private:
  // An ordered object would compare the name with all before it.
  void Add(const char* name, ordered_json value) {
    using Fields = ordered_json::object_t;
    static_cast<Fields::Container&>(out.get_ref<Fields&>()).emplace_back(name, std::move(value));
  }

  static ordered_json Value(const std::string& text) { return text; }
  static ordered_json Value(bool value) { return value; }
  static ordered_json Value(int value) { return value; }
  static ordered_json Value(std::int64_t value) { return value; }
  // JSON cannot represent NaN or infinity.
  static ordered_json Value(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(); }
  static ordered_json Value(SystemTime time) {
    return time == SystemTime{} ? ordered_json() : ordered_json(FormatTime(time));
  }
  static ordered_json Value(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000.0; }
  static ordered_json Value(const Raw<const std::string>& raw) {
    return raw.text.empty() ? ordered_json() : ordered_json::parse(raw.text, nullptr, /*allow_exceptions=*/false);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  static ordered_json Value(Enum value) { return std::string(json_fields::Spell(value)); }
  template <class T>
  static ordered_json Value(const std::optional<T>& value) {
    return value ? Value(*value) : ordered_json();
  }
  template <class T>
  static ordered_json Value(const std::vector<T>& values) {
    ordered_json list = ordered_json::array();
    for (const T& value : values) list.push_back(Value(value));
    return list;
  }
  template <class T>
  static ordered_json Value(const std::map<std::string, T>& values) {
    ordered_json object = ordered_json::object();
    for (const auto& [key, value] : values) object[key] = Value(value);
    return object;
  }

  static ordered_json Value(const Toolchain& t) {
    return Of([&](Writer& w) { json_fields::DescribeToolchain(w, t); });
  }
  static ordered_json Value(const CaptureLimits& l) {
    return Of([&](Writer& w) { json_fields::DescribeLimits(w, l); });
  }
  static ordered_json Value(const LimitOverrides& l) {
    return Of([&](Writer& w) { json_fields::DescribeLimitOverrides(w, l); });
  }
  static ordered_json Value(const BreakSite& s) {
    return Of([&](Writer& w) { json_fields::DescribeSite(w, s); });
  }
  static ordered_json Value(const GraphSegment& s) {
    return Of([&](Writer& w) { json_fields::DescribeSegment(w, s); });
  }
  static ordered_json Value(const PlannedModel& p) {
    return Of([&](Writer& w) { json_fields::DescribePlanned(w, p); });
  }
  static ordered_json Value(const ReasonCount& r) {
    return Of([&](Writer& w) { json_fields::DescribeReason(w, r); });
  }
  static ordered_json Value(const Attempt& a) {
    return Of([&](Writer& w) { json_fields::DescribeAttempt(w, a); });
  }
  static ordered_json Value(const Numbers& n) {
    return Of([&](Writer& w) { json_fields::DescribeNumbers(w, n); });
  }
  static ordered_json Value(const StageRecord& s) {
    return Of([&](Writer& w) { json_fields::DescribeStage(w, s); });
  }

  static ordered_json Value(const ReasonFixes& r) {
    return Of([&](Writer& w) { json_fields::DescribeReasonFixes(w, r); });
  }
  static ordered_json Value(const FixEffects& f) {
    return Of([&](Writer& w) { json_fields::DescribeFixEffects(w, f); });
  }
  static ordered_json Value(const BackendTimes& b) {
    return Of([&](Writer& w) { json_fields::DescribeBackendTimes(w, b); });
  }
  static ordered_json Value(const Measurement& m) {
    return Of([&](Writer& w) { json_fields::DescribeMeasurement(w, m); });
  }

  template <class Fill>
  static ordered_json Of(const Fill& fill) {
    Writer writer;
    fill(writer);
    return std::move(writer.out);
  }
};

template <class Fill>
std::string Document(const Fill& fill) {
  Writer writer;
  fill(writer);
  return JsonText(writer.out);
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
    json_fields::DescribeInfo(w, r.info);
    if (r.info.model_type.empty()) w.Replace("model_type", c.model_type);
    const bool known = !c.architecture.empty() || r.info.architectures.empty();
    w("architecture", known ? c.architecture : r.info.architectures.front());
    if (!r.info.params) w.Replace("params", c.params);
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
