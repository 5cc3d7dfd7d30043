#include "cell.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace breakwatch::artifact {
namespace {

// Between two order statistics linearly, as numpy.percentile. `sorted` is not empty.
double Quantile(const std::vector<double>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

}  // namespace

Cell Summarize(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  Cell cell;
  cell.runs = seconds.size();
  const auto count = static_cast<double>(seconds.size());
  cell.mean_s = std::accumulate(seconds.begin(), seconds.end(), 0.0) / count;
  cell.median_s = cell.p50_s = Quantile(seconds, 0.5);
  // The number of runs below the true median is binomial with p = 1/2: normal approximation of its 2.5 % quantile.
  const double reach = 0.98 * std::sqrt(count);
  const double low = std::max(0.0, std::floor(count / 2 - reach));
  const double high = std::min(count - 1, std::ceil(count / 2 + reach));
  cell.low_s = seconds[static_cast<std::size_t>(low)];
  cell.high_s = seconds[static_cast<std::size_t>(high)];
  cell.p90_s = Quantile(seconds, 0.90);
  cell.p95_s = Quantile(seconds, 0.95);
  cell.p99_s = Quantile(seconds, 0.99);
  return cell;
}

nlohmann::ordered_json ToJson(const Cell& cell) {
  nlohmann::ordered_json json = {
      {"status", cell.status}, {"detail", cell.detail}, {"runs", cell.runs}, {"failures", cell.failures}};
  if (cell.runs == 0) return json;
  json.update(nlohmann::ordered_json{{"mean_s", cell.mean_s},
                                     {"median_s", cell.median_s},
                                     {"low_s", cell.low_s},
                                     {"high_s", cell.high_s},
                                     {"p50_s", cell.p50_s},
                                     {"p90_s", cell.p90_s},
                                     {"p95_s", cell.p95_s},
                                     {"p99_s", cell.p99_s}});
  return json;
}

}  // namespace breakwatch::artifact
