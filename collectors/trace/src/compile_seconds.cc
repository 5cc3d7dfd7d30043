#include "compile_seconds.h"

#include <algorithm>

namespace breakwatch::trace {
namespace {

constexpr std::size_t kMaxRecent = 1024;  // compilations do not nest by the thousand

}  // namespace

void CompileSeconds::Add(std::optional<double> started_s, double seconds) {
  seconds = std::max(0.0, seconds);
  if (!started_s) {
    settled_ += seconds;
    return;
  }
  Interval added{*started_s, *started_s + seconds};
  while (!recent_.empty() && recent_.back().end > added.begin) {
    added.begin = std::min(added.begin, recent_.back().begin);
    added.end = std::max(added.end, recent_.back().end);
    recent_.pop_back();
  }
  recent_.push_back(added);
  if (recent_.size() <= kMaxRecent) return;
  const auto half = recent_.begin() + kMaxRecent / 2;
  std::for_each(recent_.begin(), half, [&](const Interval& i) { settled_ += i.end - i.begin; });
  recent_.erase(recent_.begin(), half);
}

double CompileSeconds::Total() const {
  double total = settled_;
  for (const Interval& interval : recent_) total += interval.end - interval.begin;
  return total;
}

}  // namespace breakwatch::trace
