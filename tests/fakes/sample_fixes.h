// What a worker sends for mode `fix`: a model with three breaks that two fixes together make one graph.
#pragma once

#include <string>

#include "fakes/fake_capture_runner.h"

namespace breakwatch::fakes {

inline std::string FixesJson() {
  return R"({"before": {"breaks": 3, "sites": 2, "graphs": 4, "ops": 90}, "attempts": [
    {"names": ["capture_scalar_outputs"], "status": "ok", "outcome": "better",
     "after": {"breaks": 1, "sites": 1, "graphs": 2, "ops": 92}, "removed": ["branching-0"], "python": ["import torch._dynamo"]},
    {"names": ["attention_eager"], "status": "crashed", "detail": "signal 6\u001b[31m|"},
    {"names": ["capture_scalar_outputs", "use_cache"], "status": "ok", "outcome": "whole",
     "after": {"breaks": 0, "sites": 0, "graphs": 1, "ops": 93}, "caution": "no cache",
     "python": ["import torch._dynamo", "torch._dynamo.config.capture_scalar_outputs = True"]}],
    "best": 2, "left": [{"site_id": "s", "reason": "Data-dependent branching", "gb_id": "GB0170", "file": "a.py",
     "line": 7, "function": "forward", "owner": "library", "stack": ["a.py:3 in forward"], "explanation": "why",
     "hints": ["try this"]}]})";
}

inline CaptureResult TriedCapture(const std::string& detail_json = FixesJson()) {
  CaptureResult capture = GoodCapture({FakeSite("branching", "GB0170", 3)});
  capture.mode = "fix";
  capture.mode_detail_json = detail_json;
  return capture;
}

}  // namespace breakwatch::fakes
