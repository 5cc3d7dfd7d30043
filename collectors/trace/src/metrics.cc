#include "metrics.h"

#include <algorithm>
#include <array>

#include "json_scan.h"

namespace breakwatch::trace {
namespace {

constexpr std::size_t kMaxText = 4096, kMaxError = 16u << 10;

std::string Text(std::string_view value, std::size_t max = kMaxText) { return AsString(value, max).value_or(""); }

std::optional<double> Micros(std::string_view value) {
  const auto number = AsNumber(value);
  return number ? std::optional(*number / 1e6) : std::nullopt;
}

std::optional<bool> Bool(std::string_view value) { return IsNull(value) ? std::nullopt : std::optional(IsTrue(value)); }

using Out = CompileMetrics;

// Each element is the reason of a restarted analysis: the text of a break, or the class of another exception.
void TakeRestarts(std::string_view value, Out& metrics) {
  constexpr int kMaxRestarts = 64;
  for (int i = 0; i < kMaxRestarts; ++i) {
    const std::string_view element = Element(value, i);
    if (element.empty()) return;
    std::string text = Text(element);
    if (text.find("  Explanation: ") != std::string::npos) {
      metrics.restarted_by_break = true;
    } else if (!text.empty() && !text.starts_with("<class ")) {
      metrics.old_restarts.push_back(std::move(text));
    }
  }
}

struct Field {
  std::string_view key;
  void (*take)(std::string_view, Out&);
};
// The same quantity has an older and a newer name. The newer one is in microseconds and comes later in a record.
constexpr std::array<Field, 27> kFields = {{
    {"co_name", [](std::string_view v, Out& m) { m.function = Text(v); }},
    {"co_filename", [](std::string_view v, Out& m) { m.file = Text(v); }},
    {"co_firstlineno", [](std::string_view v, Out& m) { m.line = AsInt(v); }},
    {"guard_count", [](std::string_view v, Out& m) { m.guards = AsInt(v); }},
    {"graph_op_count", [](std::string_view v, Out& m) { m.ops = AsInt(v); }},
    {"graph_input_count", [](std::string_view v, Out& m) { m.inputs = AsInt(v); }},
    {"start_time", [](std::string_view v, Out& m) { m.started_s = AsNumber(v); }},
    {"start_time_us",
     [](std::string_view v, Out& m) {
       if (!IsNull(v)) m.started_s = Micros(v);
     }},
    {"entire_frame_compile_time_s",
     [](std::string_view v, Out& m) {
       if (!m.seconds) m.seconds = AsNumber(v);
     }},
    {"duration_us",
     [](std::string_view v, Out& m) {
       if (!IsNull(v)) m.seconds = Micros(v);
     }},
    {"backend_compile_time_s",
     [](std::string_view v, Out& m) {
       m.backend_s = AsNumber(v);
       m.no_backend = IsNull(v);
     }},
    {"inductor_compile_time_s", [](std::string_view v, Out& m) { m.inductor_s = AsNumber(v); }},
    {"aot_autograd_cumulative_compile_time_us",
     [](std::string_view v, Out& m) {
       if (!IsNull(v)) m.backend_s = Micros(v);
     }},
    {"inductor_cumulative_compile_time_us",
     [](std::string_view v, Out& m) {
       if (!IsNull(v)) m.inductor_s = Micros(v);
     }},
    {"has_guarded_code", [](std::string_view v, Out& m) { m.guarded_code = Bool(v); }},
    {"config_suppress_errors", [](std::string_view v, Out& m) { m.suppress_errors = Bool(v); }},
    {"is_forward", [](std::string_view v, Out& m) { m.is_backward = v == "false"; }},
    {"is_runtime", [](std::string_view v, Out& m) { m.is_runtime = IsTrue(v); }},
    {"fail_type", [](std::string_view v, Out& m) { m.fail_type = Text(v); }},
    {"fail_reason", [](std::string_view v, Out& m) { m.fail_reason = Text(v); }},
    {"recompile_reason", [](std::string_view v, Out& m) { m.recompile_reason = Text(v); }},
    {"exception_stack_trace", [](std::string_view v, Out& m) { m.traceback = Text(Element(v, 0), kMaxError); }},
    {"restart_reasons", TakeRestarts},
    {"fail_user_frame_filename", [](std::string_view v, Out& m) { m.fail_file = Text(v); }},
    {"fail_user_frame_lineno", [](std::string_view v, Out& m) { m.fail_line = AsInt(v); }},
    {"pytorch_version", [](std::string_view v, Out& m) { m.torch = Text(v, 64); }},
    {"python_version",
     [](std::string_view v,
        Out& m) { m.python = Text(v, 64), m.python.resize(std::min(m.python.find(' '), m.python.size())); }},
}};

}  // namespace

CompileMetrics ReadMetrics(std::string_view object) {
  CompileMetrics metrics;
  ObjectScan scan(object);
  std::string_view key, value;
  while (scan.Next(key, value)) {
    const auto field = std::find_if(kFields.begin(), kFields.end(), [&](const Field& f) { return f.key == key; });
    if (field != kFields.end()) field->take(value, metrics);
  }
  return metrics;
}

}  // namespace breakwatch::trace
