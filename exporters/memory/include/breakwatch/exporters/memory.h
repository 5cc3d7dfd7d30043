// The memory exporters keep what they receive, within limits, for a page, a test or a debugger.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "breakwatch/core/exporters.h"

namespace breakwatch::exporters {

struct MemoryOptions {
  std::string name = "memory";
  std::size_t max_snapshots = 4;  // the oldest is removed first
  std::size_t max_events = 10'000;
};

// What was delivered, and how to answer. Shared by the exporters and their reader. Thread: any.
class MemoryRecord {
 public:
  // The next exports get these answers, one each, in order; with none left, they are delivered.
  void AnswerNext(Outcome outcome);
  // The outcome of every export without a configured answer of its own.
  void AnswerAlways(Outcome outcome);
  // The target seems to have lost its state until the next snapshot is delivered.
  void LoseState();

  std::vector<Snapshot> Snapshots() const;
  std::vector<StoredEvent> Events() const;
  std::size_t Attempts() const;

 private:
  friend class MemoryMetrics;
  friend class MemoryEvents;
  Outcome NextAnswer();

  mutable std::mutex mutex_;
  std::deque<Outcome> answers_;
  Outcome standing_answer_;
  std::deque<Snapshot> snapshots_;
  std::deque<StoredEvent> events_;
  std::size_t attempts_ = 0;
  bool lost_ = false;
};

std::unique_ptr<MetricExporter> MakeMemoryMetrics(MemoryOptions options, std::shared_ptr<MemoryRecord> record);
std::unique_ptr<EventExporter> MakeMemoryEvents(MemoryOptions options, std::shared_ptr<MemoryRecord> record);

}  // namespace breakwatch::exporters
