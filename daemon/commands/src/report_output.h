// Writes a report in the requested format.
#pragma once

#include <string>

#include "breakwatch/report/formats.h"
#include "breakwatch/report/stream.h"
#include "commands.h"

namespace breakwatch::commands {

// The format of a report; with --json it is JSON. Error: kUsage with the formats.
Result<report::Format> ReportFormatOf(const App& app, const std::string& name);

// Writes to a file; "" and "-" mean standard output. Of kGithub, the annotations always go to standard output, and the
// summary to `path`; without it, it is appended to the file that $GITHUB_STEP_SUMMARY names, if any. Returns the exit
// code.
int WriteReport(const App& app, const std::string& path, report::Format format, const report::SweepReport& report);
int WriteReport(const App& app, const std::string& path, report::Format format, const report::ComparisonReport& report);

// The results of a stored sweep with their owners, one at a time.
report::EachResult EachOf(const App& app, store::SweepStore& store, const std::string& sweep_id);
// Writes while it reads: for a report that report::CanStream. Returns the exit code.
int WriteStreamed(const App& app, const std::string& path, report::Format format, const report::StreamedSweep& sweep);

}  // namespace breakwatch::commands
