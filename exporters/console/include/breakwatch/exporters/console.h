// The console exporters: a snapshot as a short table, events as their lines, onto a stream.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "breakwatch/core/exporters.h"

namespace breakwatch::exporters {

struct ConsoleOptions {
  std::string name = "console";
  int top_reasons = 10;
};

// `out` outlives the exporter, which is its only writer. A stream that fails is kTryAgain; its error is cleared
// before each write, so that a pipe that is read again works.
std::unique_ptr<MetricExporter> MakeConsoleMetrics(ConsoleOptions options, std::ostream& out);
std::unique_ptr<EventExporter> MakeConsoleEvents(ConsoleOptions options, std::ostream& out);

}  // namespace breakwatch::exporters
