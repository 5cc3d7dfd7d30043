// Cells and texts that the tables of measurements share.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/measure.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

inline constexpr double kMillis = 1e3;

inline Cell Millis(const std::optional<double>& seconds) { return seconds ? Cell(*seconds * kMillis) : Cell(); }
inline Cell Number(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }
inline Cell TextOrNone(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

// The backends of a result in the order of tables: without torch.compile, then kBackends, then others.
std::vector<std::string> BackendsOf(const MeasuredCells& cells);

// The site of a break in a capture, or null.
const BreakSite* SiteOf(const CaptureResult& capture, const std::string& site_id);
// "file.py:12".
std::string PlaceText(const std::string& file, int line);

// "1.80x faster", "1.20x slower" or "no difference"; empty if the two cannot be compared.
std::string DifferenceText(const std::optional<LatencyDifference>& difference);

}  // namespace breakwatch::report
