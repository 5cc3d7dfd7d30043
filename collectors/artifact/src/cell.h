// Cell: the statistics of a measurement, with the fields of the worker's cells.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace breakwatch::artifact {

struct Cell {
  std::string status = "ok";  // or "failed"
  std::string detail;         // empty if ok
  std::size_t runs = 0, failures = 0;
  double mean_s = 0, median_s = 0;
  double low_s = 0, high_s = 0;  // 95 % interval of the median, from order statistics
  double p50_s = 0, p90_s = 0, p95_s = 0, p99_s = 0;
};

// `seconds` of the runs, in any order; at least one.
Cell Summarize(std::vector<double> seconds);

// Without the numbers if nothing was measured.
nlohmann::ordered_json ToJson(const Cell& cell);

}  // namespace breakwatch::artifact
