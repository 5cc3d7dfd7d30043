// WorkerCounts: what a CaptureRunner counted of its worker processes since it was made, and the metrics of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace breakwatch {

struct WorkerCounts {
  std::int64_t started = 0;
  std::int64_t failed_starts = 0;     // ended before they were ready
  std::int64_t lost = 0;              // were ready, then died, went silent or broke the protocol
  std::int64_t retried_captures = 0;  // started again in a fresh worker, because the first was lost
  std::int64_t ignored_results = 0;   // for a capture that was unknown or had ended
  bool operator==(const WorkerCounts&) const = default;
};
using WorkersOfAll = std::map<std::string, WorkerCounts>;  // by name of the toolchain; of this process

struct WorkerSeries {
  const char *name, *help;
  std::int64_t WorkerCounts::*value;
};

// One table for the Pushgateway and for /metrics: both show the same names and texts.
inline constexpr WorkerSeries kWorkerSeries[] = {
    {"breakwatch_workers_started_total", "Worker processes started, counted by the process: rate() is correct here.",
     &WorkerCounts::started},
    {"breakwatch_workers_failed_starts_total", "Worker processes that ended before they were ready.",
     &WorkerCounts::failed_starts},
    {"breakwatch_workers_lost_total", "Worker processes that died, went silent or broke the protocol.",
     &WorkerCounts::lost},
    {"breakwatch_workers_retried_captures_total", "Captures started again because their worker process was lost.",
     &WorkerCounts::retried_captures},
    {"breakwatch_workers_ignored_results_total", "Results of captures that were unknown or had ended.",
     &WorkerCounts::ignored_results},
};

}  // namespace breakwatch
