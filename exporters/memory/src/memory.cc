#include "breakwatch/exporters/memory.h"

#include <utility>

namespace breakwatch::exporters {
namespace {

template <class T>
void KeepNewest(std::deque<T>& kept, std::size_t max) {
  while (kept.size() > max) kept.pop_front();
}

}  // namespace

void MemoryRecord::AnswerNext(Outcome outcome) {
  const std::lock_guard lock(mutex_);
  answers_.push_back(std::move(outcome));
}

void MemoryRecord::AnswerAlways(Outcome outcome) {
  const std::lock_guard lock(mutex_);
  standing_answer_ = std::move(outcome);
}

void MemoryRecord::LoseState() {
  const std::lock_guard lock(mutex_);
  lost_ = true;
}

std::vector<Snapshot> MemoryRecord::Snapshots() const {
  const std::lock_guard lock(mutex_);
  return {snapshots_.begin(), snapshots_.end()};
}

std::vector<StoredEvent> MemoryRecord::Events() const {
  const std::lock_guard lock(mutex_);
  return {events_.begin(), events_.end()};
}

std::size_t MemoryRecord::Attempts() const {
  const std::lock_guard lock(mutex_);
  return attempts_;
}

Outcome MemoryRecord::NextAnswer() {
  ++attempts_;
  if (answers_.empty()) return standing_answer_;
  Outcome outcome = std::move(answers_.front());
  answers_.pop_front();
  return outcome;
}

class MemoryMetrics : public MetricExporter {
 public:
  MemoryMetrics(MemoryOptions options, std::shared_ptr<MemoryRecord> record)
      : options_(std::move(options)), record_(std::move(record)) {}

  std::string Name() const override { return options_.name; }
  Outcome Export(const Snapshot& snapshot) override {
    const std::lock_guard lock(record_->mutex_);
    Outcome outcome = record_->NextAnswer();
    if (outcome.delivery == Delivery::kDelivered) {
      record_->snapshots_.push_back(snapshot);
      KeepNewest(record_->snapshots_, options_.max_snapshots);
      record_->lost_ = false;
    }
    return outcome;
  }
  TargetCheck CheckTarget() override {
    const std::lock_guard lock(record_->mutex_);
    return {record_->lost_};
  }

 private:
  const MemoryOptions options_;
  const std::shared_ptr<MemoryRecord> record_;
};

class MemoryEvents : public EventExporter {
 public:
  MemoryEvents(MemoryOptions options, std::shared_ptr<MemoryRecord> record)
      : options_(std::move(options)), record_(std::move(record)) {}

  std::string Name() const override { return options_.name; }
  Outcome Export(std::span<const StoredEvent> batch) override {
    const std::lock_guard lock(record_->mutex_);
    Outcome outcome = record_->NextAnswer();
    if (outcome.delivery == Delivery::kDelivered) {
      record_->events_.insert(record_->events_.end(), batch.begin(), batch.end());
      KeepNewest(record_->events_, options_.max_events);
    }
    return outcome;
  }

 private:
  const MemoryOptions options_;
  const std::shared_ptr<MemoryRecord> record_;
};

std::unique_ptr<MetricExporter> MakeMemoryMetrics(MemoryOptions options, std::shared_ptr<MemoryRecord> record) {
  return std::make_unique<MemoryMetrics>(std::move(options), std::move(record));
}

std::unique_ptr<EventExporter> MakeMemoryEvents(MemoryOptions options, std::shared_ptr<MemoryRecord> record) {
  return std::make_unique<MemoryEvents>(std::move(options), std::move(record));
}

}  // namespace breakwatch::exporters
