// Prices of machines, for the cost of requests.
#pragma once

#include <string>
#include <vector>

namespace breakwatch {

struct MachinePrice {
  std::string name;
  double per_hour = 0;  // in the currency of the table
  int threads = 1;      // that can compute at once
};

struct Prices {
  std::string currency;  // as it is printed: "USD"
  std::vector<MachinePrice> machines;
};

// What a million requests cost on a machine that runs as many copies of the measured model as it has threads for. A
// request is one item of a batch. `seconds`: of one call with `batch` items, measured with `threads` threads.
double CostPerMillion(const MachinePrice& machine, double seconds, int batch, int threads);

}  // namespace breakwatch
