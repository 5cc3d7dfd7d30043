#include "breakwatch/core/prices.h"

#include <algorithm>

namespace breakwatch {

double CostPerMillion(const MachinePrice& machine, double seconds, int batch, int threads) {
  constexpr double kMillion = 1e6, kHour = 3600;
  const int copies = std::max(1, machine.threads / std::max(1, threads));
  const double seconds_each = seconds / std::max(1, batch) / copies;
  return machine.per_hour / kHour * seconds_each * kMillion;
}

}  // namespace breakwatch
