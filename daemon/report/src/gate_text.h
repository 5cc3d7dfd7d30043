// The decision of the gate as lines and as JSON.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/compare/gate.h"
#include "table_json.h"

namespace breakwatch::report {

// A line per finding, a bounded number of each kind; what is left out is counted. Not escaped.
std::vector<std::string> GateLines(const compare::GateDecision& gate);
// "Gate: failed, 1 worse; 27 of 30 -> 28 of 30 results have numbers". Not escaped.
std::string GateSummary(const compare::GateDecision& gate);

Json GateJson(const compare::GateDecision& gate);

}  // namespace breakwatch::report
