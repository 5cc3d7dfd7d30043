// MetricChannel: one metric exporter and the newest snapshot that it has not accepted yet.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backoff.h"
#include "breakwatch/engine/delivery.h"
#include "reported_failures.h"

namespace breakwatch::engine {

class MetricChannel {
 public:
  using StatsOfAll = std::function<std::vector<DeliveryStats>()>;

  MetricChannel(std::unique_ptr<MetricExporter> exporter, bool required, const DeliveryOptions& options);

  void Offer(SnapshotPtr snapshot, bool urgent);
  // Sends if due. Returns when to call Step again.
  SteadyTime Step(const Clock& clock, const StatsOfAll& stats);
  void Hurry();

  bool required() const { return required_; }
  bool Pending() const { return pending_ != nullptr; }
  bool Refused() const { return refused_; }
  bool Fails() const { return backoff_.FailuresInARow() > 0; }
  const DeliveryStats& stats() const { return stats_; }

 private:
  SteadyTime Due() const;
  SteadyTime RepeatDue() const;
  void AskTarget(SteadyTime now);
  void Send(const Clock& clock, const StatsOfAll& stats);
  void ReportRefusal(SteadyTime now, const std::string& detail);
  void Report(Level level, const std::string& text) const;

  std::unique_ptr<MetricExporter> exporter_;
  const bool required_;
  const DeliveryOptions& options_;
  SnapshotPtr latest_, pending_;
  bool urgent_ = false;
  bool refused_ = false;                        // the target refused the latest snapshot
  std::optional<SteadyTime> refusal_reported_;  // since the last delivery
  std::optional<SteadyTime> sent_at_;
  SteadyTime next_check_{};
  Backoff backoff_;
  ReportedFailures reported_;
  DeliveryStats stats_;
};

}  // namespace breakwatch::engine
