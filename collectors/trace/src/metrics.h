// CompileMetrics: what a `compilation_metrics` record says of one compilation. Versions of torch differ: each may lack
// any of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace breakwatch::trace {

struct CompileMetrics {
  std::string function, file;  // of the compiled frame
  std::optional<std::int64_t> line, guards, ops, inputs;
  std::optional<double> started_s, seconds;  // wall
  std::optional<double> backend_s, inductor_s;
  std::optional<bool> guarded_code;  // something was compiled
  std::optional<bool> suppress_errors;
  bool is_backward = false, is_runtime = false;
  bool restarted_by_break = false;        // a restart reason has the grammar of a break
  std::vector<std::string> old_restarts;  // those that have not: of breaks, in older releases
  bool no_backend = false;                // the record has a place for the backend's time, and there was none
  std::string fail_type, fail_reason, recompile_reason, traceback;
  std::string fail_file;  // of the innermost user frame of a failure
  std::optional<std::int64_t> fail_line;
  std::string torch, python;
};

CompileMetrics ReadMetrics(std::string_view object);

}  // namespace breakwatch::trace
