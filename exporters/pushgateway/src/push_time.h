// Finds the time of the last push to one group in a gateway's exposition, which may be hundreds of megabytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "breakwatch/exporters/pushgateway.h"

namespace breakwatch::exporters {

// Takes the exposition piece by piece and keeps at most one line. Thread: its owner's.
class PushTimeFinder {
 public:
  // Of the group of this shard.
  PushTimeFinder(const PushgatewayOptions& options, int shard);

  // False: the time is known.
  bool Take(std::string_view piece);
  // As the gateway writes it; nullopt: not found so far.
  const std::optional<std::string>& time() const { return time_; }

 private:
  void TakeLine(std::string_view line);

  std::string series_;  // with its labels
  std::string rest_;    // the start of a line whose end has not come yet
  bool skips_ = false;  // the line is too long for this series
  std::optional<std::string> time_;
};

}  // namespace breakwatch::exporters
