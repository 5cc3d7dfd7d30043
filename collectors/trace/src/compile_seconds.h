// CompileSeconds: the total wall time spent compiling. Nested compilations count once, with the outer one.
#pragma once

#include <optional>
#include <vector>

namespace breakwatch::trace {

class CompileSeconds {
 public:
  // Compilations are added in the order in which they ended. One without a start time counts in full.
  void Add(std::optional<double> started_s, double seconds);
  double Total() const;

 private:
  struct Interval {
    double begin, end;
  };
  std::vector<Interval> recent_;  // disjoint, ascending; older intervals are in `settled_`
  double settled_ = 0;
};

}  // namespace breakwatch::trace
