// CompileMetrics: what a `compilation_metrics` record says of one compilation. Versions of torch differ: each may lack
// any of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace breakwatch::trace {

struct CompileMetrics {
  std::string function, file;  // of the compiled frame
  std::optional<std::int64_t> line, guards, ops, inputs;
  std::optional<double> started_s, seconds;  // wall
  std::optional<double> backend_s, inductor_s;
  std::optional<bool> guarded_code;  // something was compiled
  std::optional<bool> suppress_errors;
  bool is_backward = false, is_runtime = false;
  bool restarted_by_break = false;  // a restart reason has the grammar of a break
  std::string fail_type, fail_reason, recompile_reason, traceback;
  std::string torch, python;
};

CompileMetrics ReadMetrics(std::string_view object);

}  // namespace breakwatch::trace
