// Formats the graphs of a capture and the findings of its mode.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

using Fact = std::pair<std::string, std::string>;

// True if `ops_captured` is from the reduced run and all other numbers are from the full-depth run.
bool HasOpsOfAnotherRun(const CaptureResult& capture);

// One row per graph, at most `limit` (0: all). Fields: graph, compile_id, file, line, function, ops_total, ops,
// top_ops, inputs, guards, ended_by (a site_id), end ("break 2: reason" in text output, "returns").
Table SegmentTable(const CaptureResult& capture, std::size_t limit = 0);

// Formats the inputs' JSON as "input_ids int64 [2, 8]; use_cache False". Unknown forms stay unchanged.
std::string InputsText(const std::string& inputs_json);

// One fact per member of the mode's JSON object; nested values are shortened. Empty if it is not an object.
std::vector<Fact> ModeFacts(const std::string& mode_detail_json);

}  // namespace breakwatch::report
