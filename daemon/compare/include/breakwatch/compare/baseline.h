// Baseline: the results that a gate compares with, as a text file that is committed and reviewed. Pure.
//
// Tab-separated values, one line for each model and mode, sorted: the same results give the same bytes. No line has a
// time, except those of modes profile and bench, which have one more field: TimesJson (core/measured_times.h).
//
// Lines that begin with "#" are comments; the first is "# breakwatch baseline 1", its format version. The line after
// the comments names the columns:
//
//   model mode status breaks break_sites frames_fallback recompiles ops_captured depth class params commit inputs sites
//
// `sites` lists "SITE_ID:EVENTS:GB_ID", separated by commas. An empty field is unknown. In text, "\t" is a tab, "\n" a
// line end, "\\" a backslash, and "\x1b" the byte 1b: control characters, commas and colons within a site, and a "#"
// that would begin a line.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::compare {

// The results of one sweep. One that was not attempted, or lost its worker, is not written.
std::string BaselineText(std::span<const ModelResult> results);

// Results with the fields above, at least one. Error: kConfig, naming file and line; also for a file that was cut off.
Result<std::vector<ModelResult>> ParseBaseline(const std::string& path, std::string_view text);

// The results of a new baseline. A result of the sweep replaces the old line of its model and mode, unless it was not
// attempted or lost its worker. Lines of modes that the sweep did not contain stay; with `keep_others`, also lines of
// models that it did not contain.
std::vector<ModelResult> UpdateBaseline(std::span<const ModelResult> old, std::span<const ModelResult> sweep,
                                        bool keep_others);

}  // namespace breakwatch::compare
