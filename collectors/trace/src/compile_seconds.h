// CompileSeconds: the time in which anything was compiled: of compilations inside others, the outer one counts.
#pragma once

#include <optional>
#include <vector>

namespace breakwatch::trace {

class CompileSeconds {
 public:
  // In the order they ended. Without a start it counts in full.
  void Add(std::optional<double> started_s, double seconds);
  double Total() const;

 private:
  struct Interval {
    double begin, end;
  };
  std::vector<Interval> recent_;  // apart, ascending; what is far behind is in `settled_`
  double settled_ = 0;
};

}  // namespace breakwatch::trace
