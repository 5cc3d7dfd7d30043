// An event log that passes everything on to another: the base of logs that fail on purpose.
#pragma once

#include "breakwatch/store/event_log.h"

namespace breakwatch::fakes {

class EventLogWrapper : public store::EventLog {
 public:
  explicit EventLogWrapper(store::EventLog& inner) : inner_(inner) {}

  Result<void> AppendEvents(std::span<const Event> events) override { return inner_.AppendEvents(events); }
  Result<std::vector<StoredEvent>> EventsAfter(std::int64_t id, int limit, std::size_t max_bytes) override {
    return inner_.EventsAfter(id, limit, max_bytes);
  }
  Result<std::int64_t> NewestEventId() override { return inner_.NewestEventId(); }
  Result<std::int64_t> NewestEventBefore(SystemTime time) override { return inner_.NewestEventBefore(time); }
  Result<std::int64_t> Cursor(const std::string& exporter) override { return inner_.Cursor(exporter); }
  Result<void> SetCursor(const std::string& exporter, std::int64_t event_id) override {
    return inner_.SetCursor(exporter, event_id);
  }
  Result<int> TrimEvents(std::span<const std::string> exporters, int keep_sweeps, int limit) override {
    return inner_.TrimEvents(exporters, keep_sweeps, limit);
  }
  Result<void> BuryEvents(const std::string& exporter, std::span<const store::Refusal> refused,
                          std::int64_t cursor) override {
    return inner_.BuryEvents(exporter, refused, cursor);
  }
  Result<std::vector<store::DeadLetter>> DeadLetters(const store::LetterFilter& filter, int limit) override {
    return inner_.DeadLetters(filter, limit);
  }
  Result<std::int64_t> CountDeadLetters(const std::string& exporter) override {
    return inner_.CountDeadLetters(exporter);
  }
  Result<std::int64_t> CountQueuedLetters(const std::string& exporter) override {
    return inner_.CountQueuedLetters(exporter);
  }
  Result<std::int64_t> QueueDeadLetters(const store::LetterFilter& filter) override {
    return inner_.QueueDeadLetters(filter);
  }
  Result<std::int64_t> DropDeadLetters(const store::LetterFilter& filter) override {
    return inner_.DropDeadLetters(filter);
  }
  Result<std::vector<StoredEvent>> QueuedLetters(const std::string& exporter, int limit,
                                                 std::size_t max_bytes) override {
    return inner_.QueuedLetters(exporter, limit, max_bytes);
  }
  Result<void> RefuseQueuedLetters(const std::string& exporter, std::span<const store::Refusal> refused) override {
    return inner_.RefuseQueuedLetters(exporter, refused);
  }
  Result<void> SetPaused(const std::string& exporter, const std::string& detail) override {
    return inner_.SetPaused(exporter, detail);
  }
  Result<void> SetLastError(const std::string& exporter, const std::string& detail) override {
    return inner_.SetLastError(exporter, detail);
  }
  Result<std::vector<store::DeliveryState>> DeliveryStates() override { return inner_.DeliveryStates(); }

 private:
  store::EventLog& inner_;
};

}  // namespace breakwatch::fakes
