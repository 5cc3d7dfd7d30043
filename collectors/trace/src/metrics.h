// CompileMetrics: the fields of one `compilation_metrics` record. Each field is optional, because versions of torch
// differ.
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
  std::optional<bool> guarded_code;  // whether the compilation produced code
  std::optional<bool> suppress_errors;
  bool is_backward = false, is_runtime = false;
  bool restarted_by_break = false;        // a restart reason has the format of a break message
  std::vector<std::string> old_restarts;  // the other reasons: breaks, in older releases
  bool no_backend = false;                // the record has a field for the backend's time, and it is null
  std::string fail_type, fail_reason, recompile_reason, traceback;
  std::string fail_file;  // of the innermost user frame at a failure
  std::optional<std::int64_t> fail_line;
  std::string torch, python;
};

CompileMetrics ReadMetrics(std::string_view object);

}  // namespace breakwatch::trace
