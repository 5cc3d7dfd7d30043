// The graphs of a capture and what its mode found, for people.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

using Fact = std::pair<std::string, std::string>;

// Whether `ops_captured` is of the run at reduced depth and all else of the one at full depth.
bool HasOpsOfAnotherRun(const CaptureResult& capture);

// A row per graph, at most `limit` (0: all). Fields: graph, compile_id, file, line, function, ops_total, ops, top_ops,
// inputs, guards, ended_by (a site_id), end ("break 2: reason" for people, "returns").
Table SegmentTable(const CaptureResult& capture, std::size_t limit = 0);

// "input_ids int64 [2, 8]; use_cache False" of the inputs' JSON; what is not understood stays as it is.
std::string InputsText(const std::string& inputs_json);

// A fact per member of the mode's JSON object, nested ones in short; empty for no object.
std::vector<Fact> ModeFacts(const std::string& mode_detail_json);

}  // namespace breakwatch::report
